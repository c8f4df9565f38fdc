"""Next sign in the knot-words of a made-up weavers' script, with a GRU and plain SGD at a high rate."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

SIGNS, LENGTH = 16, 24
CHAIN = rng.dirichlet(np.full(SIGNS, 0.08), size=(SIGNS, SIGNS))


def text(n):
    out = np.zeros(n, "int32")
    for i in range(2, n):
        out[i] = np.searchsorted(np.cumsum(CHAIN[out[i - 2], out[i - 1]]), rng.random() * 0.999999)
    return np.minimum(out, SIGNS - 1)


def pairs(signs):
    n = (len(signs) - 1) // LENGTH
    return signs[: n * LENGTH].reshape(n, LENGTH), signs[1 : n * LENGTH + 1].reshape(n, LENGTH)


x_train, y_train = pairs(text(60000))
x_test, y_test = pairs(text(9000))

inputs = keras.Input((LENGTH,), dtype="int32")
h = layers.Embedding(SIGNS, 24)(inputs)
h = layers.GRU(64, return_sequences=True)(h)
model = keras.Model(inputs, layers.Dense(SIGNS)(h), name="knots")

EPOCHS, BATCH = 16, 50
STEPS = EPOCHS * (len(x_train) // BATCH)


class WarmThenLinear(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        return 2.0 * tf.minimum(step / 80.0, tf.maximum(1.0 - step / STEPS, 0.02))


optimizer = keras.optimizers.SGD(WarmThenLinear(), momentum=0.5)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
gradwatch.watch(model)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, size = tf.clip_by_global_norm(grads, 0.5)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, size


train = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000, seed=seed).batch(BATCH, drop_remainder=True)
)
for epoch in range(EPOCHS):
    losses = [float(step(x, y)[0]) for x, y in train]
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

logits = model.predict(x_test, verbose=0)
nll = float(loss_fn(y_test, logits))
known = CHAIN[np.roll(x_test, 1, axis=1)[:, 1:], x_test[:, 1:], y_test[:, 1:]]
print(f"nll {nll:.4f}; of the true chain {-np.log(known + 1e-9).mean():.4f}")
print("SCORE test_nll", round(nll, 4))
