import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VOCAB = 300
LENGTH = 16
SECTIONS = 6
DIM = 32
HEADS = 4
STOP_WORDS = 60

TOPIC_WORDS = rng.dirichlet(np.full(VOCAB - STOP_WORDS - 1, 0.08), SECTIONS)


def posts(n):
    tokens = np.zeros((n, LENGTH), dtype="int32")
    labels = rng.integers(0, SECTIONS, n)
    for i in range(n):
        words = []
        for _ in range(rng.integers(4, LENGTH + 1)):
            if rng.random() < 0.35:
                words.append(rng.integers(1, STOP_WORDS + 1))
            else:
                words.append(STOP_WORDS + 1 + rng.choice(VOCAB - STOP_WORDS - 1, p=TOPIC_WORDS[labels[i]]))
        kept = [w for w in words if w > STOP_WORDS]
        tokens[i, : len(kept)] = kept
    return tokens, labels


x_train, y_train = posts(2500)
x_test, y_test = posts(600)


class MaskedSelfAttention(keras.layers.Layer):
    def __init__(self, dim, heads, **kwargs):
        super().__init__(**kwargs)
        self.dim, self.heads = dim, heads
        self.query = keras.layers.Dense(dim)
        self.key = keras.layers.Dense(dim)
        self.value = keras.layers.Dense(dim)
        self.merge = keras.layers.Dense(dim)

    def split(self, x):
        x = tf.reshape(x, (-1, LENGTH, self.heads, self.dim // self.heads))
        return tf.transpose(x, (0, 2, 1, 3))

    def call(self, x, keep):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = tf.matmul(q, k, transpose_b=True) / (self.dim // self.heads) ** 0.5
        scores = tf.where(keep[:, None, None, :], scores, -1e9)
        mixed = tf.matmul(tf.nn.softmax(scores), v)
        mixed = tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (-1, LENGTH, self.dim))
        return self.merge(mixed)


class SectionClassifier(keras.Model):
    def __init__(self):
        super().__init__()
        self.tokens = keras.layers.Embedding(VOCAB, DIM)
        self.places = keras.layers.Embedding(LENGTH, DIM)
        self.attention = MaskedSelfAttention(DIM, HEADS)
        self.norm = keras.layers.LayerNormalization()
        self.feed = keras.Sequential([keras.layers.Dense(64, activation="gelu"), keras.layers.Dense(DIM)])
        self.head = keras.layers.Dense(SECTIONS)

    def call(self, ids, training=False):
        keep = ids > 0
        x = self.tokens(ids) + self.places(tf.range(LENGTH))[None]
        x = self.norm(x + self.attention(x, keep))
        x = x + self.feed(x)
        weight = tf.cast(keep, tf.float32)[:, :, None]
        pooled = tf.reduce_sum(x * weight, axis=1) / tf.maximum(tf.reduce_sum(weight, axis=1), 1.0)
        return self.head(pooled)


model = SectionClassifier()
model(x_train[:2])
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def train_step(ids, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(ids, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2500, seed=SEED).batch(50)
for epoch in range(6):
    for ids, labels in dataset:
        loss = train_step(ids, labels)
        watch.log(loss=loss)
    print(epoch, float(loss))

predicted = np.argmax(model(x_test).numpy(), axis=1)
print("SCORE", float(np.mean(predicted == y_test)))
