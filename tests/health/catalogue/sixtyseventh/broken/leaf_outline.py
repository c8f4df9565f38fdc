import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, N_TRAIN, N_TEST = 32, 640, 128


def draw_leaves(count):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    images = np.empty((count, SIZE, SIZE, 3), "float32")
    masks = np.empty((count, SIZE, SIZE, 1), "float32")
    for i in range(count):
        cx, cy = rng.uniform(10, 22, 2)
        a, b = rng.uniform(6, 11), rng.uniform(3, 6)
        t = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t)
        v = -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
        mask = ((u / a) ** 2 + (v / b) ** 2 < 1).astype("float32")
        soil = np.array([0.35, 0.25, 0.2]) + rng.normal(0, 0.06, (SIZE, SIZE, 3))
        leaf = np.array([0.2, 0.65, 0.2]) + rng.normal(0, 0.08, (SIZE, SIZE, 3))
        image = soil * (1 - mask[..., None]) + leaf * mask[..., None]
        images[i] = image
        masks[i, :, :, 0] = mask
    return images, masks


x_train, y_train = draw_leaves(N_TRAIN)
x_test, y_test = draw_leaves(N_TEST)
channel_mean = x_train.mean(axis=(0, 1, 2))
channel_std = x_train.std(axis=(0, 1, 2))
x_train = (x_train - channel_mean) / channel_std
x_test = (x_test - channel_mean) / channel_std


def weighted_crossentropy(y_true, y_pred):
    inside = 2.0 * y_true * tf.math.log(y_pred)
    outside = (1.0 - y_true) * tf.math.log(1.0 - y_pred)
    return -tf.reduce_mean(inside + outside)


def conv(filters, name):
    return keras.layers.Conv2D(filters, 3, padding="same", activation="relu", name=name)


image_in = keras.Input((SIZE, SIZE, 3))
skip = conv(12, "enc_1")(image_in)
x = keras.layers.MaxPooling2D(name="down")(skip)
x = conv(24, "enc_2")(x)
x = conv(24, "enc_3")(x)
x = keras.layers.UpSampling2D(name="up")(x)
x = keras.layers.Concatenate(name="merge")([x, skip])
x = conv(12, "dec_1")(x)
mask_out = keras.layers.Conv2D(1, 1, activation="sigmoid", name="mask")(x)
model = keras.Model(image_in, mask_out)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=weighted_crossentropy)

data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(N_TRAIN, seed=SEED).batch(32).prefetch(2)
gradwatch.watch(model)
model.fit(data, epochs=14, verbose=0)

pred = model.predict(x_test, batch_size=64, verbose=0) > 0.5
overlap = np.logical_and(pred, y_test > 0.5).sum()
union = np.logical_or(pred, y_test > 0.5).sum()
print("SCORE", float(overlap / max(union, 1)))
