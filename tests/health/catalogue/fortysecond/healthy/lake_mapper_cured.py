"""Train a small U-Net that maps lakes in satellite tiles."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

SIZE = 32
BATCH = 24
EPOCHS = 11


def make_tiles(n, rng):
    grid = np.arange(SIZE)
    gx, gy = np.meshgrid(grid, grid)
    image = 0.12 * rng.normal(0, 1, (n, SIZE, SIZE, 3)) + np.array([0.35, 0.45, 0.30])
    mask = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        for _ in range(rng.integers(1, 3)):
            cx, cy = rng.uniform(4, SIZE - 4, 2)
            rx, ry = rng.uniform(3, 7, 2)
            inside = ((gx - cx) / rx) ** 2 + ((gy - cy) / ry) ** 2 < 1
            mask[i, inside, 0] = 1.0
    image += mask * np.array([-0.2, -0.1, 0.15])
    image += 0.05 * rng.normal(0, 1, (n, 1, 1, 3))
    return (4.0 * (image - 0.4)).astype("float32"), mask


def augment(image, mask):
    both = tf.concat([image, mask], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    image, mask = both[..., :3], both[..., 3:]
    return image, mask


def conv(x, width, name):
    return layers.Conv2D(width, 3, padding="same", activation="relu", kernel_initializer="he_normal", name=name)(x)


def build_model():
    inputs = keras.Input((SIZE, SIZE, 3))
    top = conv(inputs, 12, "down_a")
    mid = conv(layers.MaxPooling2D()(top), 24, "down_b")
    low = conv(layers.MaxPooling2D()(mid), 32, "bottom")
    x = layers.Concatenate()([layers.UpSampling2D()(low), mid])
    x = conv(x, 24, "up_b")
    x = layers.Concatenate()([layers.UpSampling2D()(x), top])
    x = conv(x, 12, "up_a")
    outputs = layers.Conv2D(1, 1, activation="sigmoid", name="water")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 51)
    x_train, m_train = make_tiles(960, rng)
    x_test, m_test = make_tiles(200, rng)

    train = tf.data.Dataset.from_tensor_slices((x_train, m_train))
    train = train.shuffle(len(x_train), seed=SEED).map(augment).batch(BATCH).prefetch(2)
    valid = tf.data.Dataset.from_tensor_slices((x_test, m_test)).batch(50)

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    model.fit(train, epochs=EPOCHS, validation_data=valid, verbose=2)

    pred = model.predict(x_test, verbose=0) > 0.5
    truth = m_test > 0.5
    iou = np.sum(pred & truth) / max(1, np.sum(pred | truth))
    print("SCORE iou %.4f" % iou)


if __name__ == "__main__":
    main()
