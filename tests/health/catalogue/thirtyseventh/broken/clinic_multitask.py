"""Predict length of stay and readmission together from admission data, with gradients summed over micro-batches."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

N, D, BATCH, MICRO = 9000, 20, 64, 2
x = rng.normal(0, 1, (N, D)).astype("float32")
w = rng.normal(0, 1, (D, 6)) / np.sqrt(D)
z = np.tanh(1.5 * x @ w)
severity = 1.5 * z[:, 0] * z[:, 1] + z[:, 2] + 0.8 * z[:, 3]
frailty = 1.5 * z[:, 3] * z[:, 4] - z[:, 5] + 0.7 * z[:, 2]
stay = (severity + rng.normal(0, 0.3, N)).astype("float32")
stay = (stay - stay.mean()) / stay.std()
back = (rng.random(N) < 1 / (1 + np.exp(-3 * frailty))).astype("float32")
cut = 7500

train = (
    tf.data.Dataset.from_tensor_slices((x[:cut], stay[:cut], back[:cut]))
    .shuffle(cut, seed=seed)
    .batch(BATCH, drop_remainder=True)
)

inp = keras.Input((D,))
h = layers.Dense(64, activation="relu")(inp)
h = layers.LayerNormalization()(h)
h = layers.Dense(64, activation="relu")(h)
stay_out = layers.Dense(1, name="stay")(layers.Dense(16, activation="relu")(h))
back_out = layers.Dense(1, name="readmission")(layers.Dense(16, activation="relu")(h))
model = keras.Model(inp, [stay_out, back_out])

optimizer = keras.optimizers.Adam(2e-3)
accumulated = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
gradwatch.watch(model)


@tf.function
def micro_step(xb, sb, bb):
    with tf.GradientTape() as tape:
        s, b = model(xb, training=True)
        stay_loss = tf.reduce_mean(tf.square(s[:, 0] - sb))
        back_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=bb, logits=b[:, 0]))
        loss = stay_loss + back_loss
    for total, g in zip(accumulated, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(g / MICRO)
    return loss


@tf.function
def update():
    optimizer.apply_gradients(zip([tf.convert_to_tensor(a) for a in accumulated], model.trainable_variables))


seen = 0
for epoch in range(12):
    losses = []
    for batch in train:
        losses.append(float(micro_step(*batch)))
        seen += 1
        if seen % MICRO == 0:
            update()
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

s, b = model.predict(x[cut:], verbose=0)
r2 = 1 - np.mean((s[:, 0] - stay[cut:]) ** 2) / np.var(stay[cut:])
acc = np.mean((b[:, 0] > 0) == (back[cut:] == 1))
print("SCORE mean_r2_accuracy", round(float((r2 + acc) / 2), 4))
