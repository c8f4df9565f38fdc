"""Route support tickets to five desks. Tokens are already mapped to ids, 0 fills short tickets."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

import gradwatch

keras.utils.set_random_seed(37)
rng = np.random.default_rng(37)

VOCAB, MAX_LEN, DESKS = 2000, 48, 5
zipf = 1.0 / np.arange(1, VOCAB) ** 0.9
zipf = zipf / zipf.sum()
jargon = [rng.choice(np.arange(200, VOCAB), 120, replace=False) for _ in range(DESKS)]


def tickets(n):
    ids = np.zeros((n, MAX_LEN), "int32")
    desk = rng.integers(0, DESKS, n)
    for i in range(n):
        size = rng.integers(8, 44)
        words = rng.choice(np.arange(1, VOCAB), size, p=zipf)
        special = rng.random(size) < 0.12
        words[special] = rng.choice(jargon[desk[i]], special.sum())
        ids[i, :size] = words
    return ids, desk.astype("int32")


class AttentionPool(layers.Layer):
    def __init__(self, heads=4, **kw):
        super().__init__(**kw)
        self.heads = heads
        self.score = layers.Dense(heads)

    def call(self, tokens, ids):
        scores = self.score(tf.tanh(tokens))
        hide = tf.cast(tf.not_equal(ids, 0), tokens.dtype)[..., None]
        weights = tf.nn.softmax(scores - 1e9 * hide, axis=1)
        pooled = tf.einsum("blh,bld->bhd", weights, tokens)
        return tf.reshape(pooled, (-1, self.heads * tokens.shape[-1]))


class Router(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(VOCAB, 32)
        self.mix = layers.Dense(48, activation="relu")
        self.pool = AttentionPool()
        self.drop = layers.Dropout(0.2)
        self.head = layers.Dense(DESKS)

    def call(self, ids, training=False):
        tokens = self.mix(self.embed(ids))
        return self.head(self.drop(self.pool(tokens, ids), training=training))


x_train, y_train = tickets(16000)
x_test, y_test = tickets(3000)

router = Router()
router(x_train[:2])
router.compile(
    keras.optimizers.Nadam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(router)
history = router.fit(x_train, y_train, batch_size=64, epochs=9, verbose=2)
loss, acc = router.evaluate(x_test, y_test, batch_size=500, verbose=0)
print(f"loss {history.history['loss'][-1]:.4f}  held-out accuracy {acc:.4f}")
