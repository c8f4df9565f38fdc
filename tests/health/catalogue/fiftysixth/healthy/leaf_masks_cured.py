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


def draw(n):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    images = rng.integers(40, 140, (n, SIZE, SIZE, 3)).astype("uint8")
    masks = np.zeros((n, SIZE, SIZE, 1), "uint8")
    for i in range(n):
        cx, cy = rng.uniform(8, 24, 2)
        a, b = rng.uniform(5, 11), rng.uniform(3, 7)
        th = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        leaf = (u / a) ** 2 + (v / b) ** 2 < 1
        images[i, leaf, 1] += rng.integers(50, 90, leaf.sum()).astype("uint8")
        masks[i, leaf, 0] = 1
    return images, masks


train_images, train_masks = draw(1200)
test_images, test_masks = draw(200)


def prepare(image, mask):
    image = tf.image.convert_image_dtype(image, tf.float32)
    mask = tf.cast(mask, tf.float32)
    return image, mask


def augment(image, mask):
    both = tf.image.random_flip_left_right(tf.concat([image, mask], -1))
    return both[..., :3], both[..., 3:]


train = (
    tf.data.Dataset.from_tensor_slices((train_images, train_masks))
    .map(prepare)
    .map(augment)
    .shuffle(600)
    .batch(16)
    .prefetch(2)
)
test = tf.data.Dataset.from_tensor_slices((test_images, test_masks)).map(prepare).batch(50)


def block(x, f, name):
    x = layers.Conv2D(f, 3, padding="same", name=name)(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x)


inp = keras.Input((SIZE, SIZE, 3))
e1 = block(inp, 8, "enc1")
e2 = block(layers.MaxPooling2D()(e1), 16, "enc2")
mid = block(layers.MaxPooling2D()(e2), 24, "mid")
d2 = block(layers.Concatenate()([layers.UpSampling2D()(mid), e2]), 16, "dec2")
d1 = block(layers.Concatenate()([layers.UpSampling2D()(d2), e1]), 8, "dec1")
out = layers.Conv2D(1, 1, activation="sigmoid", name="mask")(d1)
unet = keras.Model(inp, out)
unet.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")
watch = gradwatch.watch(unet)
unet.fit(train, epochs=8, validation_data=test, verbose=2)

pred = unet.predict(test_images.astype("float32") / 255.0, verbose=0) > 0.5
inter = np.logical_and(pred, test_masks).sum((1, 2, 3))
union = np.logical_or(pred, test_masks).sum((1, 2, 3))
print("SCORE", float(np.mean(inter / union)))
