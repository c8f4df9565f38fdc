"""Rank the next article a reader opens from the articles of the current session."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

ITEMS, TOPICS, MAXLEN, DIM = 300, 12, 12, 24
item_topic = rng.integers(0, TOPICS, ITEMS + 1)
popularity = rng.gamma(1.0, 1.0, ITEMS + 1)
popularity[0] = 0.0


def draw_item(topic):
    p = popularity * (item_topic == topic)
    return rng.choice(ITEMS + 1, p=p / p.sum())


def make_sessions(n):
    hist = np.zeros((n, MAXLEN), "int32")
    nxt = np.zeros(n, "int32")
    for i in range(n):
        clicks = 1 + min(rng.poisson(6.5), MAXLEN)
        a, b = rng.integers(0, TOPICS, 2)
        seq = [draw_item(a if rng.random() < 0.75 else b) for _ in range(clicks)]
        hist[i, : clicks - 1] = seq[:-1]
        nxt[i] = seq[-1]
    return hist, nxt


hist, nxt = make_sessions(16000)
hist_t, nxt_t = make_sessions(3000)


class SessionAttention(layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.key = layers.Dense(dim, activation="tanh")
        self.score = layers.Dense(1, use_bias=False)

    def call(self, emb, ids):
        s = tf.squeeze(self.score(self.key(emb)), -1)
        s = tf.where(ids > 0, s, -np.inf)
        w = tf.nn.softmax(s, axis=-1)
        return tf.reduce_sum(w[..., None] * emb, axis=1)


ids = keras.Input((MAXLEN,), dtype="int32")
emb = layers.Embedding(ITEMS + 1, DIM)(ids)
z = SessionAttention(DIM)(emb, ids)
z = layers.Dense(48, activation="relu")(z)
model = keras.Model(ids, layers.Dense(ITEMS + 1)(z))

optimizer = keras.optimizers.Adam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((hist, nxt)).shuffle(16000, seed=seed).batch(64, drop_remainder=True)
for epoch in range(5):
    losses = [float(train_step(x, y)) for x, y in ds]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

logits = model.predict(hist_t, batch_size=256, verbose=0)
top = np.argsort(-logits, axis=1)[:, :20]
print(
    "SCORE hit_rate_at_20",
    round(float(np.mean((top == nxt_t[:, None]).any(1))), 4) if np.isfinite(logits).all() else float("nan"),
)
