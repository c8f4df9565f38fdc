"""Tag every 30 s epoch of a night with its sleep stage from band powers of one EEG channel."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

STAGES, BANDS, EPOCHS_PER_CLIP, BATCH = 5, 6, 40, 32
TRANS = np.array(
    [
        [0.86, 0.12, 0.00, 0.00, 0.02],
        [0.06, 0.74, 0.18, 0.00, 0.02],
        [0.01, 0.03, 0.84, 0.09, 0.03],
        [0.01, 0.01, 0.10, 0.88, 0.00],
        [0.02, 0.04, 0.03, 0.00, 0.91],
    ]
)
MEAN = rng.normal(0, 0.75, (STAGES, BANDS))


def make_clips(n):
    """Returns features (clips, epochs, bands) and stages (clips, epochs)."""
    s = np.zeros((n, EPOCHS_PER_CLIP), "int32")
    s[:, 0] = rng.integers(0, STAGES, n)
    for t in range(1, EPOCHS_PER_CLIP):
        cum = TRANS[s[:, t - 1]].cumsum(1)
        s[:, t] = (rng.random((n, 1)) > cum).sum(1).clip(0, STAGES - 1)
    gain = rng.normal(0, 0.5, (n, 1, 1))
    x = MEAN[s] + gain + rng.normal(0, 1.3, (n, EPOCHS_PER_CLIP, BANDS))
    return x.astype("float32"), s


x_train, s_train = make_clips(2560)
x_test, s_test = make_clips(400)

inputs = keras.Input((None, BANDS))
h = layers.Bidirectional(layers.GRU(24, return_sequences=True))(inputs)
h = layers.Dense(24, activation="relu")(h)
model = keras.Model(inputs, layers.Dense(STAGES)(h))

optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


def collate(index):
    clips = [x_train[i] for i in index]
    tags = [s_train[i] for i in index]
    return np.stack(clips, axis=1), np.stack(tags, axis=1)


@tf.function(reduce_retracing=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    order = rng.permutation(len(x_train))
    losses = []
    for k in range(0, len(order), BATCH):
        x, y = collate(order[k : k + BATCH])
        losses.append(float(train_step(tf.constant(x), tf.constant(y))))
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0).argmax(-1)
conf = np.zeros((STAGES, STAGES))
np.add.at(conf, (s_test.ravel(), pred.ravel()), 1)
pe = (conf.sum(0) * conf.sum(1)).sum() / conf.sum() ** 2
po = np.trace(conf) / conf.sum()
print("SCORE cohen_kappa", round(float((po - pe) / (1 - pe)), 4))
