import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIZE = 32
rng = np.random.default_rng(SEED)


def make_scene(n):
    images = rng.normal(0, 0.1, (n, SIZE, SIZE, 1)).astype("float32")
    target = np.zeros((n, 5), "float32")
    for i in range(n):
        if rng.random() < 0.15:
            continue
        w, h = rng.integers(3, 14, 2)
        x, y = rng.integers(0, SIZE - w), rng.integers(0, SIZE - h)
        images[i, y : y + h, x : x + w, 0] += rng.uniform(0.7, 1.2)
        target[i] = [1, (x + w / 2) / SIZE, (y + h / 2) / SIZE, w / SIZE, h / SIZE]
    return images, target


x_train, t_train = make_scene(3000)
x_test, t_test = make_scene(500)

inp = keras.Input((SIZE, SIZE, 1))
z = inp
for k, f in enumerate((12, 24, 32)):
    z = layers.Conv2D(f, 3, padding="same", activation="relu", name=f"conv{k}")(z)
    z = layers.MaxPooling2D()(z)
z = layers.Flatten()(z)
z = layers.Dense(64, activation="relu", name="neck")(z)
obj = layers.Dense(1, activation="sigmoid", name="objectness")(z)
box = layers.Dense(4, activation="sigmoid", bias_initializer=keras.initializers.Constant(0.4), name="box")(z)
detector = keras.Model(inp, layers.Concatenate()([obj, box]))
watch = gradwatch.watch(detector)
optimizer = keras.optimizers.Adam(1e-3)


def yolo_loss(t, p, coord=5.0):
    has = t[:, 0]
    conf = tf.reduce_mean((t[:, 0] - p[:, 0]) ** 2)
    xy = tf.reduce_sum((t[:, 1:3] - p[:, 1:3]) ** 2, -1)
    wh = tf.reduce_sum((tf.sqrt(t[:, 3:]) - tf.sqrt(p[:, 3:])) ** 2, -1)
    return conf + coord * tf.reduce_mean(has * (xy + wh))


@tf.function
def train_step(images, targets):
    with tf.GradientTape() as tape:
        loss = yolo_loss(targets, detector(images, training=True))
    grads = tape.gradient(loss, detector.trainable_variables)
    optimizer.apply_gradients(zip(grads, detector.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_train, t_train)).shuffle(3000, seed=SEED).batch(64)
for epoch in range(8):
    for images, targets in data:
        loss = train_step(images, targets)
        watch.log(loss=loss)
    print("epoch", epoch, "loss", float(loss))

pred = detector.predict(x_test, verbose=0)
keep = t_test[:, 0] == 1


def corners(b):
    return np.concatenate([b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2], 1)


a, b = corners(t_test[keep, 1:]), corners(pred[keep, 1:])
inter = np.clip(np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2]), 0, None).prod(1)
union = t_test[keep, 3:].prod(1) + pred[keep, 3:].prod(1) - inter
print("SCORE", float(np.mean(inter / union)))
