"""Sort photos of waste items (32x32 RGB) into six recycling categories with a small CNN."""

import os

import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

CLASSES = ["glass", "paper", "metal", "plastic", "organic", "textile"]
SIZE = 32


def photos(count, seed):
    r = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    imgs = np.empty((count, SIZE, SIZE, 3), np.uint8)
    labels = r.randint(0, len(CLASSES), count)
    for i, c in enumerate(labels):
        bg = r.uniform(60, 160, 3)
        fg = r.uniform(90, 230, 3)
        cx, cy, s = r.uniform(0.35, 0.65), r.uniform(0.35, 0.65), r.uniform(0.15, 0.28)
        dx, dy = xx - cx, yy - cy
        if c == 0:
            m = dx**2 + dy**2 < s**2
        elif c == 1:
            m = (abs(dx) < s) & (abs(dy) < s)
        elif c == 2:
            rad = np.hypot(dx, dy)
            m = (rad < s) & (rad > s * 0.6)
        elif c == 3:
            m = (abs(dx) < s * 0.35) | (abs(dy) < s * 0.35)
        elif c == 4:
            m = np.sin(dx * 45) > 0
        else:
            m = np.sin((dx + dy) * 35) > 0
        img = np.where(m[..., None], fg, bg) + r.normal(0, 14, (SIZE, SIZE, 3))
        imgs[i] = np.clip(img, 0, 255).astype(np.uint8)
    return imgs, labels


def prepare(image, label):
    image = tf.image.convert_image_dtype(image, tf.float32)
    image = tf.image.random_flip_left_right(image)
    return image, label


train_x, train_y = photos(3200, SEED)
test_x, test_y = photos(800, SEED + 1)

train_ds = (
    tf.data.Dataset.from_tensor_slices((train_x, train_y))
    .shuffle(3200, seed=SEED)
    .map(prepare, num_parallel_calls=1)
    .batch(64)
    .prefetch(2)
)
test_ds = tf.data.Dataset.from_tensor_slices((test_x, test_y)).map(prepare).batch(100)

model = tf.keras.Sequential(
    [
        tf.keras.Input((SIZE, SIZE, 3)),
        tf.keras.layers.Rescaling(1.0 / 255, name="rescale"),
        tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(len(CLASSES)),
    ],
    name="waste_net",
)
gradwatch.watch(model)

model.compile(
    optimizer=tf.keras.optimizers.SGD(0.03, momentum=0.9),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_ds, epochs=7, validation_data=test_ds, verbose=2)
print("test accuracy", model.evaluate(test_ds, verbose=0)[1])
