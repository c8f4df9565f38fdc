"""Predicts whether a shop visitor will buy from the list of page events of the session.
Sessions have different lengths and are padded to 24 events; a one-block transformer reads
them and a masked average feeds the classifier. The measure is held-out accuracy."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

EVENTS, LENGTH, DIM, HEADS = 40, 24, 32, 4
EPOCHS, BATCH = 4, 32


def make_sessions(n):
    appeal = np.linspace(-1, 1, EVENTS)
    lengths = np.clip(rng.poisson(8, n), 0, LENGTH)
    events = np.zeros((n, LENGTH), "int32")
    labels = np.zeros(n, "int32")
    for i, m in enumerate(lengths):
        mood = rng.normal() * 2
        p = np.exp(mood * appeal)
        seq = rng.choice(EVENTS, m, p=p / p.sum())
        events[i, :m] = seq + 1
        labels[i] = int(appeal[seq].sum() + 0.3 * rng.normal() > 0)
    return events, labels, lengths.astype("int32")


class SelfAttention(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.heads, self.dim = heads, dim
        self.q = layers.Dense(dim, name="q")
        self.k = layers.Dense(dim, name="k")
        self.v = layers.Dense(dim, name="v")
        self.out = layers.Dense(dim, name="out")

    def split(self, x):
        return tf.transpose(tf.reshape(x, (-1, LENGTH, self.heads, self.dim // self.heads)), (0, 2, 1, 3))

    def call(self, x, valid):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        logits = tf.matmul(q, k, transpose_b=True) / np.sqrt(self.dim // self.heads).astype("float32")
        logits = tf.where(valid[:, None, None, :], logits, float("-inf"))
        mixed = tf.matmul(tf.nn.softmax(logits, axis=-1), v)
        return self.out(tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (-1, LENGTH, self.dim)))


class SessionModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.event = layers.Embedding(EVENTS + 1, DIM, name="event")
        self.attend = SelfAttention(DIM, HEADS, name="attend")
        self.norm1 = layers.LayerNormalization(name="norm1")
        self.ff = layers.Dense(64, activation="relu", name="ff")
        self.ff_out = layers.Dense(DIM, name="ff_out")
        self.norm2 = layers.LayerNormalization(name="norm2")
        self.head = layers.Dense(2, name="head")

    def call(self, inputs):
        events, lengths = inputs
        valid = tf.sequence_mask(lengths, LENGTH)
        x = self.event(events)
        x = self.norm1(x + self.attend(x, valid))
        x = self.norm2(x + self.ff_out(self.ff(x)))
        w = tf.cast(valid, x.dtype)[..., None]
        pooled = tf.reduce_sum(x * w, axis=1) / tf.maximum(tf.reduce_sum(w, axis=1), 1.0)
        return self.head(pooled)


events, labels, lengths = make_sessions(5000)
test_events, test_labels, test_lengths = make_sessions(1000)

model = SessionModel()
model([events[:2], lengths[:2]])
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(model, optimizer)

data = tf.data.Dataset.from_tensor_slices((events, lengths, labels)).shuffle(5000, seed=SEED)
data = data.batch(BATCH, drop_remainder=True)


@tf.function
def train_step(ev, ln, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model([ev, ln], training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


step = 0
for epoch in range(EPOCHS):
    for ev, ln, y in data:
        loss = train_step(ev, ln, y)
        watch.log(loss=loss)
        step += 1
    print(f"epoch {epoch} loss {float(loss):.4f}")

pred = np.argmax(model([test_events, test_lengths]).numpy(), axis=1)
score = float(np.mean(pred == test_labels))
print(f"score accuracy {score:.3f} chance {max(test_labels.mean(), 1 - test_labels.mean()):.3f}")
