import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from scipy.ndimage import gaussian_filter

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

SIZE, BANDS, CLASSES = 32, 4, 4
rng = np.random.default_rng(SEED + 19)
# cover codes in the survey: 1 water, 2 forest, 3 built, 4 crop
SPECTRA = np.array([[0.1, 0.2, 0.1, 0.05], [0.2, 0.4, 0.2, 0.7], [0.5, 0.5, 0.5, 0.4], [0.3, 0.5, 0.3, 0.6]])


def tiles(n):
    noise = rng.normal(size=(n, CLASSES, SIZE, SIZE))
    field = np.stack([[gaussian_filter(c, 3) for c in t] for t in noise])
    codes = field.argmax(1) + 1
    img = SPECTRA[codes - 1] + rng.normal(0, 0.12, (n, SIZE, SIZE, BANDS))
    return img.astype("float32"), codes.astype("int32")


x_train, codes_train = tiles(400)
x_test, codes_test = tiles(100)


def prepare(img, codes):
    return img, tf.one_hot(codes, CLASSES)


train = (
    tf.data.Dataset.from_tensor_slices((x_train, codes_train))
    .map(prepare)
    .shuffle(400, seed=SEED)
    .batch(16)
    .prefetch(2)
)


def unet():
    inp = keras.Input((SIZE, SIZE, BANDS))
    a = layers.Conv2D(16, 3, padding="same", activation="relu")(inp)
    b = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(a)
    b = layers.Conv2D(24, 3, padding="same", activation="relu")(b)
    up = layers.Conv2DTranspose(16, 2, strides=2, activation="relu")(b)
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(layers.Concatenate()([a, up]))
    return keras.Model(inp, layers.Conv2D(CLASSES, 1, name="cover")(x))


model = unet()
optimizer = keras.optimizers.RMSprop(2e-3)
watch = gradwatch.watch(model)


@tf.function
def step(img, target):
    with tf.GradientTape() as tape:
        logits = model(img, training=True)
        log_prob = tf.nn.log_softmax(logits)
        loss = -tf.reduce_mean(tf.reduce_sum(target * log_prob, -1))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    for img, target in train:
        loss = step(img, target)
        watch.log(loss=loss)
    print("epoch", epoch, "loss", float(loss))

_, truth = prepare(None, tf.constant(codes_test))
found = tf.one_hot(tf.argmax(model(x_test), -1), CLASSES)
print("SCORE", float(tf.reduce_mean(tf.reduce_sum(found * truth, -1))))
