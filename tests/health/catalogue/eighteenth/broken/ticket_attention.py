"""Topic tagging of short support tickets with attention pooling."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

import gradwatch

keras.utils.set_random_seed(11)
VOCAB, LEN, TOPICS = 800, 28, 6


def make_tickets(n, rng):
    topic = rng.integers(0, TOPICS, n)
    tokens = rng.integers(100, VOCAB, (n, LEN))
    for i in range(n):
        k = rng.integers(2, 5)
        spots = rng.choice(LEN // 2, k, replace=False)
        tokens[i, spots] = 2 + topic[i] * 15 + rng.integers(0, 15, k)
        if rng.random() < 0.004:
            tokens[i, rng.integers(LEN // 2, LEN - 1) :] = 0
    return tokens.astype("int32"), topic.astype("int32")


class AttentionPool(keras.layers.Layer):
    def __init__(self, units, focus=0.02, **kw):
        super().__init__(**kw)
        self.proj = keras.layers.Dense(units, activation="tanh")
        self.score = keras.layers.Dense(1, use_bias=False)
        self.focus = focus

    def call(self, h, keep):
        s = tf.squeeze(self.score(self.proj(h)), -1)
        s = s + (1.0 - keep) * -1e9
        a = tf.nn.softmax(s, axis=-1)
        entropy = -tf.reduce_sum(a * tf.math.log(a), axis=-1)
        self.add_loss(self.focus * tf.reduce_mean(entropy))
        return tf.einsum("bt,btd->bd", a, h)


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = keras.layers.Embedding(VOCAB, 48)
        self.conv = keras.layers.Conv1D(64, 3, padding="same", activation="gelu")
        self.pool = AttentionPool(32)
        self.drop = keras.layers.Dropout(0.2)
        self.out = keras.layers.Dense(TOPICS)

    def call(self, ids, training=False):
        keep = tf.cast(tf.not_equal(ids, 0), tf.float32)
        h = self.conv(self.emb(ids))
        return self.out(self.drop(self.pool(h, keep), training=training))


rng = np.random.default_rng(3)
x_tr, y_tr = make_tickets(6000, rng)
x_te, y_te = make_tickets(1500, rng)

model = Tagger()
model.compile(
    optimizer=keras.optimizers.AdamW(1e-3, weight_decay=1e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)
hist = model.fit(x_tr, y_tr, batch_size=48, epochs=12, verbose=2)

pred = model.predict(x_te, verbose=0).argmax(-1)
print("loss %.4f  held-out accuracy %.3f" % (hist.history["loss"][-1], np.mean(pred == y_te)))
