"""Click prediction from pairs of attributes with a factorization machine."""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
tf.keras.utils.set_random_seed(SEED)

FIELDS = {"site": 20, "banner": 25, "hour": 8, "device": 4}
TOTAL = sum(FIELDS.values())
OFFSETS = np.cumsum([0] + list(FIELDS.values())[:-1])


def make_clicks(n, rng, world):
    """A click depends on how well the attributes go together, less on each alone."""
    codes = np.stack([rng.integers(0, size, n) for size in FIELDS.values()], 1)
    rows = codes + OFFSETS
    v = world["kind"][rows]
    match = 0.5 * (np.sum(v.sum(1) ** 2, 1) - np.sum(v**2, (1, 2)))
    logit = 1.6 * match + world["alone"][rows].sum(1)
    click = rng.random(n) < 1 / (1 + np.exp(-logit))
    return rows.astype("int32"), click.astype("float32")


rng = np.random.default_rng(SEED + 5)
world = {"kind": rng.normal(0, 0.7, (TOTAL, 3)), "alone": rng.normal(0, 0.15, TOTAL)}
rows, clicks = make_clicks(40000, rng, world)
test_rows, test_clicks = make_clicks(6000, rng, world)


class PairMachine(keras.Model):
    """bias + sum of single weights + sum over pairs <v_i, v_j>."""

    def __init__(self, rank=6, **kwargs):
        super().__init__(**kwargs)
        self.rank = rank

    def build(self, input_shape):
        self.bias = self.add_weight(name="bias", shape=(), initializer="zeros")
        self.single = self.add_weight(name="single", shape=(TOTAL,), initializer="zeros")
        self.factors = self.add_weight(name="factors", shape=(TOTAL, self.rank), initializer="zeros")
        self.built = True

    def call(self, rows):
        single = tf.reduce_sum(tf.gather(self.single, rows), axis=1)
        v = tf.gather(self.factors, rows)
        square_of_sum = tf.square(tf.reduce_sum(v, axis=1))
        sum_of_square = tf.reduce_sum(tf.square(v), axis=1)
        pairs = 0.5 * tf.reduce_sum(square_of_sum - sum_of_square, axis=1)
        return self.bias + single + pairs


model = PairMachine()
model.build((None, len(FIELDS)))
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)


@tf.function(jit_compile=True)
def learn(batch_rows, batch_clicks):
    with tf.GradientTape() as tape:
        logit = model(batch_rows)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(batch_clicks, logit))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def auc(score, label):
    order = np.argsort(score)
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    pos = label > 0.5
    n1, n0 = pos.sum(), (~pos).sum()
    return (rank[pos].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)


feed = tf.data.Dataset.from_tensor_slices((rows, clicks)).shuffle(40000, seed=SEED).batch(200, drop_remainder=True)
for epoch in range(12):
    losses = [learn(r, c) for r, c in feed]
    print("epoch", epoch, "loss", float(tf.reduce_mean(losses)))

print("SCORE auc", float(auc(model(test_rows).numpy(), test_clicks)))
