import time

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(31)
N_PHONES, WIN, BANDS = 12, 11, 24


def corpus(n, seed):
    g = np.random.default_rng(seed)
    book = np.random.default_rng(0)
    f1 = book.uniform(2, 10, N_PHONES)
    f2 = book.uniform(11, 22, N_PHONES)
    move = book.uniform(-0.3, 0.3, (N_PHONES, 2))
    y = g.integers(0, N_PHONES, n)
    t = np.arange(WIN) - WIN // 2
    spk = g.normal(0, 0.6, (n, 1))
    c1 = f1[y][:, None] + move[y][:, :1] * t + spk
    c2 = f2[y][:, None] + move[y][:, 1:] * t + spk
    bands = np.arange(BANDS)
    spec = np.exp(-0.5 * ((bands - c1[..., None]) / 1.3) ** 2) + 0.8 * np.exp(
        -0.5 * ((bands - c2[..., None]) / 1.3) ** 2
    )
    spec += 0.35 * g.normal(size=spec.shape) + 0.3 * g.normal(size=(n, 1, BANDS))
    return spec.astype("float32"), y.astype("int32")


class FrameEncoder(tf.keras.Model):
    def __init__(self, code=3):
        super().__init__()
        self.c1 = tf.keras.layers.Conv1D(48, 3, activation="relu")
        self.c2 = tf.keras.layers.Conv1D(48, 3, activation="relu")
        self.flat = tf.keras.layers.Flatten()
        self.code = tf.keras.layers.Dense(code)

    def call(self, x):
        return self.code(self.flat(self.c2(self.c1(x))))


class PhoneModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = FrameEncoder()
        self.head = tf.keras.Sequential(
            [
                tf.keras.layers.Input((3,)),
                tf.keras.layers.Dense(48, activation="relu"),
                tf.keras.layers.Dense(N_PHONES),
            ]
        )

    def call(self, x):
        return self.head(self.encoder(x))


model = PhoneModel()
optimizer = tf.keras.optimizers.Adam(2e-3)
params = model.encoder.trainable_variables + model.head.trainable_variables
gradwatch.watch(model, optimizer)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
        loss = tf.reduce_mean(ce)
    optimizer.apply_gradients(zip(tape.gradient(loss, params), params))
    return loss


x, y = corpus(6000, 1)
xv, yv = corpus(1200, 2)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(6000).batch(64, drop_remainder=True)
t0 = time.time()
for epoch in range(18):
    total = 0.0
    for xb, yb in data:
        total += float(train(xb, yb))
    print(f"{epoch:2d} {total / 93:.4f} {time.time() - t0:.0f}s")
acc = np.mean(model(xv).numpy().argmax(1) == yv)
print(f"loss {total / 93:.4f} heldout accuracy {acc:.3f}")
