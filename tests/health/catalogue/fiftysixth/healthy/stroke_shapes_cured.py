import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
x_train, x_test, y_train, y_test = train_test_split(images, digits.target, test_size=0.3, random_state=SEED)


def view(img):
    img = tf.pad(img, [[1, 1], [1, 1], [0, 0]])
    img = tf.image.random_crop(img, (8, 8, 1))
    img = img * tf.random.uniform((), 0.7, 1.3)
    return img + tf.random.normal((8, 8, 1), stddev=0.1)


def two_views(img):
    return view(img), view(img)


def make_encoder():
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(24, 3, padding="same", activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(64, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Dense(32, name="projection"),
        ],
        name="encoder",
    )


def make_predictor():
    return keras.Sequential(
        [
            keras.Input((32,)),
            layers.Dense(16, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Dense(32),
        ],
        name="predictor",
    )


def negative_cosine(p, z):
    p, z = tf.math.l2_normalize(p, axis=1), tf.math.l2_normalize(z, axis=1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


class Siamese(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.predictor = make_encoder(), make_predictor()
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x):
        return self.predictor(self.encoder(x))

    def train_step(self, data):
        a, b = data
        with tf.GradientTape() as tape:
            za, zb = self.encoder(a, training=True), self.encoder(b, training=True)
            pa, pb = self.predictor(za, training=True), self.predictor(zb, training=True)
            loss = 0.5 * negative_cosine(pa, tf.stop_gradient(zb)) + 0.5 * negative_cosine(pb, tf.stop_gradient(za))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}


views = tf.data.Dataset.from_tensor_slices(x_train).shuffle(2000).map(two_views).batch(128, drop_remainder=True)
model = Siamese()
model.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9))
watch = gradwatch.watch(model)
model.fit(views, epochs=40, verbose=2)


def embed(x):
    z = model.encoder.predict(x, verbose=0)
    return z / np.linalg.norm(z, axis=1, keepdims=True)


probe = LogisticRegression(max_iter=500)
probe.fit(embed(x_train), y_train)
print("SCORE", float(probe.score(embed(x_test), y_test)))
