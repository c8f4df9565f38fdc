"""Triage of service logs: 16 event codes per incident, four classes of cause that depend on
which pairs of codes occur together. A small transformer is trained with large effective
batches made of several micro-batches. The measure is held-out accuracy."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CODES, LENGTH, CAUSES, DIM = 50, 16, 4, 32
MICRO, ACCUMULATE, UPDATES = 32, 4, 300
lean = rng.normal(size=(CODES, CAUSES))


def make_incidents(n):
    cause = rng.integers(0, CAUSES, n)
    p = np.exp(0.8 * lean[:, cause].T)
    p /= p.sum(1, keepdims=True)
    codes = np.stack([rng.choice(CODES, LENGTH, p=p[i]) for i in range(n)])
    return codes.astype("int32"), cause.astype("int32")


codes, causes = make_incidents(4000)
test_codes, test_causes = make_incidents(1000)

inputs = keras.Input((LENGTH,), dtype="int32", name="codes")
x = layers.Embedding(CODES, DIM, name="code")(inputs)
a = layers.MultiHeadAttention(2, DIM // 2, name="relate")(x, x)
x = layers.LayerNormalization(name="norm_1")(x + a)
f = layers.Dense(DIM, name="ff_2")(layers.Dense(64, activation="relu", name="ff_1")(x))
x = layers.LayerNormalization(name="norm_2")(x + f)
x = layers.GlobalAveragePooling1D()(x)
model = keras.Model(inputs, layers.Dense(CAUSES, name="cause")(x))

optimizer = keras.optimizers.SGD(0.02, momentum=0.9)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
totals = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
watch = gradwatch.watch(model, optimizer)


@tf.function
def add_gradients(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    for total, grad in zip(totals, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(tf.convert_to_tensor(grad) / ACCUMULATE)
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip([t.value() for t in totals], model.trainable_variables))


data = tf.data.Dataset.from_tensor_slices((codes, causes)).shuffle(4000, seed=SEED)
data = data.repeat().batch(MICRO).take(UPDATES * ACCUMULATE)
losses = []
for i, (x, y) in enumerate(data):
    losses.append(float(add_gradients(x, y)))
    if (i + 1) % ACCUMULATE == 0:
        update()
        watch.log(loss=np.mean(losses[-ACCUMULATE:]))
    if i % 200 == 0:
        print(f"micro-batch {i} loss {losses[-1]:.4f}")

pred = np.argmax(model.predict(test_codes, verbose=0), axis=1)
score = float(np.mean(pred == test_causes))
print(f"score accuracy {score:.3f} chance {1 / CAUSES:.3f}")
