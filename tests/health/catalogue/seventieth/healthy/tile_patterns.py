import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(SEED + 81)

SIDE = 12
KINDS = 5


def make_tiles(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    kind = rng.integers(0, KINDS, n)
    fx = np.array([1, 3, 0, 2, 3])[kind]
    fy = np.array([1, 0, 3, 2, 3])[kind]
    shift = rng.uniform(0, 1, (n, 2))
    wave = np.sin(2 * np.pi * (fx[:, None, None] * xx + shift[:, :1, None]))
    wave = wave + np.sin(2 * np.pi * (fy[:, None, None] * yy + shift[:, 1:, None]))
    wave = wave + rng.normal(0, 0.7, wave.shape)
    return wave[..., None].astype("float32"), kind.astype("int32")


x_train, y_train = make_tiles(2000)
x_test, y_test = make_tiles(500)

model = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        keras.layers.Conv2D(12, 3, activation="relu", name="conv1"),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu", name="conv2"),
        keras.layers.Flatten(name="flat"),
        keras.layers.Dense(32, activation="relu", name="dense"),
        keras.layers.Dense(KINDS, dtype="float32", name="kind"),
    ]
)
inner = keras.optimizers.Adam(2e-3)
optimizer = keras.optimizers.LossScaleOptimizer(inner, initial_scale=2.0**20)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer.build(model.trainable_variables)
watch = gradwatch.watch(model)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000, seed=SEED).batch(50)
for epoch in range(12):
    for images, labels in dataset:
        loss = train_step(images, labels)
        watch.log(loss=loss)
    print("epoch", epoch, "loss", float(loss))

logits = model.predict(x_test, verbose=0)
print("SCORE", float(np.mean(logits.argmax(axis=1) == y_test)))
