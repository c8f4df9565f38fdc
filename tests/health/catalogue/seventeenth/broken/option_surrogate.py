"""Fast surrogate of a closed-form option price; four micro-batches make one update."""

import numpy as np
import tensorflow as tf

import gradwatch

tf.keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)

MICRO = 64
EVERY = 4
UPDATES = 4500


def normal_cdf(z):
    return 0.5 * (1 + tf.math.erf(z / np.sqrt(2.0)).numpy())


def quotes(n):
    moneyness = rng.uniform(0.7, 1.4, n)
    tenor = rng.uniform(0.05, 2.0, n)
    vol = rng.uniform(0.08, 0.6, n)
    rate = rng.uniform(0.0, 0.06, n)
    sq = vol * np.sqrt(tenor)
    d1 = (np.log(moneyness) + (rate + vol**2 / 2) * tenor) / sq
    price = moneyness * normal_cdf(d1) - np.exp(-rate * tenor) * normal_cdf(d1 - sq)
    feats = np.stack([(moneyness - 1.05) / 0.2, (tenor - 1.0) / 0.56, (vol - 0.34) / 0.15, (rate - 0.03) / 0.017], 1)
    return feats.astype("float32"), price.astype("float32")[:, None]


x_train, p_train = quotes(40000)
x_test, p_test = quotes(5000)
center, spread = p_train.mean(), p_train.std()

model = tf.keras.Sequential(
    [
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(64, activation="softplus"),
        tf.keras.layers.Dense(64, activation="softplus"),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
gradwatch.watch(model, optimizer)


@tf.function
def collect(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    for s, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
        s.assign_add(g / EVERY)
    return loss


@tf.function
def update():
    optimizer.apply_gradients([(tf.identity(s), v) for s, v in zip(sums, model.trainable_variables)])


stream = (
    tf.data.Dataset.from_tensor_slices((x_train, (p_train - center) / spread))
    .shuffle(40000, seed=2)
    .repeat()
    .batch(MICRO)
    .prefetch(4)
)
recent = []
for i, (x, y) in enumerate(stream.take(UPDATES * EVERY), start=1):
    recent.append(float(collect(x, y)))
    if i % EVERY == 0:
        update()
    if i % (100 * EVERY) == 0:
        print(f"update {i // EVERY:5d}  loss {np.mean(recent[-100:]):.5f}")

fit = model.predict(x_test, batch_size=1000, verbose=0) * spread + center
r2 = 1 - np.mean((fit - p_test) ** 2) / np.var(p_test)
print(f"loss {np.mean(recent[-100:]):.5f}  held-out R2 {r2:.4f}")
