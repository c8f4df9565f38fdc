import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

BUCKETS, FIELDS, N, BATCH = 20000, 6, 30000, 256
rng = np.random.default_rng(SEED)
sizes = [40, 300, 25, 100, 1500, 10]
effects = [rng.normal(0, 0.8, s) for s in sizes]


def impressions(n):
    ids = np.stack([np.minimum(rng.zipf(1.4, n), s) - 1 for s in sizes], 1)
    score = sum(e[ids[:, k]] for k, e in enumerate(effects)) - 3.6
    score = score - 0.5 * effects[0][ids[:, 0]] * effects[2][ids[:, 2]]
    click = rng.random(n) < 1 / (1 + np.exp(-score))
    hashed = (ids * 7919 + np.arange(FIELDS) * 104729) % BUCKETS
    return hashed.astype("int32"), click.astype("float32")


x_train, y_train = impressions(N)
x_test, y_test = impressions(8000)
print("click rate", y_train.mean())


class ReZero(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.inner = keras.Sequential([layers.Dense(units, activation="relu"), layers.Dense(units)])

    def build(self, shape):
        self.inner.build(shape)
        self.gate = self.add_weight(shape=(), initializer="zeros", name="gate")

    def call(self, x):
        return x + self.gate * self.inner(x)


inp = keras.Input((FIELDS,), dtype="int32")
h = layers.Flatten()(layers.Embedding(BUCKETS, 8, name="hashed")(inp))
for i in range(2):
    h = ReZero(FIELDS * 8, name=f"rezero{i}")(h)
out = layers.Dense(1, name="logit")(h)
model = keras.Model(inp, out)
optimizer = keras.optimizers.Adagrad(0.1)
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
watch = gradwatch.watch(model)


@tf.function
def train_step(ids, click):
    with tf.GradientTape() as tape:
        loss = loss_fn(click[:, None], model(ids, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


stream = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(N).batch(BATCH)
for epoch in range(3):
    for ids, click in stream:
        watch.log(loss=train_step(ids, click))
pred = model.predict(x_test, batch_size=1000, verbose=0)[:, 0]
print("SCORE", float(roc_auc_score(y_test, pred)))
