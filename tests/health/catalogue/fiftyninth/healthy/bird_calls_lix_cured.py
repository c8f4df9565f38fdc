import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

RATE, SAMPLES, STEPS = 2000, 2000, 350
rng = np.random.default_rng(SEED + 23)
SPECIES = [(500, 40, 3), (500, -40, 3), (500, 0, 7), (650, 40, 7), (650, -40, 5)]


def call_of(k):
    base, slope, beats = SPECIES[k]
    t = np.arange(SAMPLES) / RATE
    f = base * rng.uniform(0.93, 1.07) + 4 * slope * (t - 0.5)
    gate = 0.5 + 0.5 * np.sign(np.sin(2 * np.pi * beats * t + rng.uniform(0, 6.28)))
    return gate * np.sin(2 * np.pi * np.cumsum(f) / RATE) + 0.7 * rng.normal(size=SAMPLES)


def clips(n):
    y = rng.integers(0, len(SPECIES), n)
    return np.stack([call_of(k) for k in y]).astype("float32"), y.astype("int32")


def log_spec(wave, label):
    s = tf.abs(tf.signal.stft(wave, 128, 64))
    return tf.math.log(s + 1e-2)[..., None], label


x_train, y_train = clips(1600)
x_test, y_test = clips(500)
train_ds = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .map(log_spec, num_parallel_calls=2)
    .batch(32)
    .repeat()
    .prefetch(4)
)

inp = keras.Input((30, 65, 1))
x = layers.Conv2D(12, 3, strides=(1, 2), activation="relu", padding="same")(inp)
x = layers.Conv2D(24, 3, strides=2, activation="relu", padding="same")(x)
x = layers.Reshape((15, -1))(x)
x = layers.GRU(24)(x)
out = layers.Dense(len(SPECIES))(x)
model = keras.Model(inp, out)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(2e-3)
acc = keras.metrics.SparseCategoricalAccuracy()
watch = gradwatch.watch(model)


@tf.function
def train_step(spec, label):
    with tf.GradientTape() as tape:
        logits = model(spec, training=True)
        loss = loss_fn(label, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    acc.update_state(label, logits)
    return loss


batches = iter(train_ds)
for i in range(STEPS):
    spec, label = next(batches)
    loss = train_step(spec, label)
    watch.log(loss=loss)
    if (i + 1) % 50 == 0:
        print(i + 1, "loss", float(loss), "acc", float(acc.result()))
        acc.reset_state()

test_spec, _ = log_spec(tf.constant(x_test), None)
pred = tf.argmax(model(test_spec), -1).numpy()
print("SCORE", float((pred == y_test).mean()))
