"""Classifies heart sounds (normal, systolic or diastolic murmur, gallop) with mixup."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

LENGTH = 320
CLASSES = 4


def thump(clock, moment, width, tone):
    bell = np.exp(-0.5 * ((clock - moment) / width) ** 2)
    return bell * np.cos(2 * np.pi * tone * (clock - moment))


def auscultate(kind):
    """Two to three beats of lub-dub with the murmur or the extra sound between them."""
    clock = np.arange(LENGTH)
    sound = rng.normal(0, 0.08, LENGTH)
    period = rng.uniform(95, 125)
    start = rng.uniform(0, period)
    for beat in range(-1, 5):
        first = start + beat * period + rng.normal(0, 1.5)
        second = first + 0.35 * period
        sound += thump(clock, first, 4.0, 0.06) + 0.8 * thump(clock, second, 3.0, 0.09)
        hiss = rng.normal(0, 1.0, LENGTH)
        if kind == 1:
            sound += 0.35 * hiss * np.exp(-0.5 * ((clock - first - 0.18 * period) / 6) ** 2)
        elif kind == 2:
            fall = np.clip((clock - second - 5) / 4, 0, 1) * np.exp(-(clock - second) / 22)
            sound += 0.45 * hiss * np.where(clock > second, fall, 0.0)
        elif kind == 3:
            sound += 0.5 * thump(clock, second + 0.2 * period, 4.0, 0.05)
    return sound * rng.uniform(0.8, 1.2)


kinds = rng.choice(CLASSES, size=1900, p=[0.34, 0.24, 0.21, 0.21])
sounds = np.stack([auscultate(k) for k in kinds])[..., None].astype("float32")
onehot = np.eye(CLASSES, dtype="float32")[kinds]
x_train, y_train = sounds[:1400], onehot[:1400]
x_test, y_test = sounds[1400:], onehot[1400:]


def stage(x, filters, stride):
    x = layers.Conv1D(filters, 9, strides=stride, padding="same")(x)
    x = layers.Activation("relu")(x)
    x = layers.GroupNormalization(groups=-1)(x)
    return x


class MixupModel(keras.Model):
    """Trains on convex mixtures of pairs of recordings."""

    def train_step(self, data):
        x, y = data
        mix = 0.15 * tf.random.uniform([tf.shape(x)[0], 1])
        order = tf.random.shuffle(tf.range(tf.shape(x)[0]))
        x = (1 - mix[..., None]) * x + mix[..., None] * tf.gather(x, order)
        y = (1 - mix) * y + mix * tf.gather(y, order)
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


inputs = keras.Input((LENGTH, 1))
x = stage(inputs, 16, 2)
x = stage(x, 24, 2)
x = stage(x, 32, 2)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dropout(0.1)(x)
model = MixupModel(inputs, layers.Dense(CLASSES)(x))
watch = gradwatch.watch(model)
model.compile(
    optimizer=keras.optimizers.AdamW(4e-3, weight_decay=1e-3),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True),
)
model.fit(x_train, y_train, batch_size=56, epochs=14, verbose=2)

guess = model.predict(x_test, verbose=0).argmax(axis=1)
truth = y_test.argmax(axis=1)
recalls = [np.mean(guess[truth == k] == k) for k in range(CLASSES)]
print("recall per class", np.round(recalls, 3))
print("score", round(float(np.mean(recalls)), 4))
