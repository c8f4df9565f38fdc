import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIZE, EPOCHS, BATCH = 24, 25, 32


def tiles(n):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    ang = rng.uniform(0, np.pi, n)[:, None, None]
    off = rng.uniform(-6, 6, n)[:, None, None]
    d = np.abs((xx - SIZE / 2) * np.sin(ang) - (yy - SIZE / 2) * np.cos(ang) - off)
    mask = (d < 2.2).astype("float32")
    ground = rng.normal(0.4, 0.25, (n, SIZE, SIZE))
    image = np.where(mask > 0, 0.62 + 0.12 * rng.normal(size=mask.shape), ground)
    return image[..., None].astype("float32"), mask[..., None]


x_train, y_train = tiles(640)
x_test, y_test = tiles(200)


def conv(x, filters):
    x = keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = keras.layers.BatchNormalization(momentum=0.9)(x)
    return keras.layers.ReLU()(x)


inp = keras.Input((SIZE, SIZE, 1))
s1 = conv(inp, 12)
s2 = conv(keras.layers.MaxPooling2D()(s1), 24)
mid = conv(keras.layers.MaxPooling2D()(s2), 32)
u2 = conv(keras.layers.Concatenate()([keras.layers.UpSampling2D()(mid), s2]), 24)
u1 = conv(keras.layers.Concatenate()([keras.layers.UpSampling2D()(u2), s1]), 12)
out = keras.layers.Conv2D(1, 1, activation="sigmoid")(u1)
model = keras.Model(inp, out)


def dice_loss(y, p):
    inter = tf.reduce_sum(y * p, axis=[1, 2, 3])
    total = tf.reduce_sum(y, axis=[1, 2, 3]) + tf.reduce_sum(p, axis=[1, 2, 3])
    return 1.0 - (2.0 * inter + 1.0) / (total + 1.0)


steps_per_epoch = len(x_train) // BATCH
schedule = keras.optimizers.schedules.CosineDecay(
    initial_learning_rate=0.0,
    warmup_target=0.02,
    warmup_steps=5,
    decay_steps=EPOCHS * steps_per_epoch,
)
model.compile(optimizer=keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True), loss=dice_loss)
watch = gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, validation_data=(x_test, y_test), verbose=2)

pred = model.predict(x_test, verbose=0) > 0.5
truth = y_test > 0.5
iou = (pred & truth).sum((1, 2, 3)) / np.maximum((pred | truth).sum((1, 2, 3)), 1)
print("SCORE", float(iou.mean()))
