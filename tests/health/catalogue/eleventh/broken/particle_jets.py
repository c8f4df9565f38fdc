"""Jet tagging from 40 kinematic variables (five jet classes), half precision, own train_step."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

keras.mixed_precision.set_global_policy("mixed_float16")

SEED = int(os.environ.get("SEED", "0"))
tf.keras.utils.set_random_seed(SEED)

rng = np.random.default_rng(SEED)
N, F, C = 8000, 40, 5
proto = rng.normal(0, 1, (C, 3, F))
cls = rng.integers(0, C, N)
sub = rng.integers(0, 3, N)
data = proto[cls, sub] * 0.55 + rng.normal(0, 1, (N, F))
data = ((data - data.mean(0)) / data.std(0)).astype("float32")
cls = cls.astype("int32")


class JetTagger(keras.Model):
    def __init__(self, widths, **kw):
        super().__init__(**kw)
        self.stack = [layers.Dense(w, activation="relu", name=f"fc{i}") for i, w in enumerate(widths)]
        self.drop = layers.Dropout(0.1, seed=SEED)
        self.head = layers.Dense(C, dtype="float32", name="head")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc_tracker = keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc_tracker]

    def call(self, x, training=False):
        for layer in self.stack:
            x = layer(x)
        return self.head(self.drop(x, training=training))

    def train_step(self, batch):
        x, y = batch
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
            objective = loss
        grads = tape.gradient(objective, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        self.loss_tracker.update_state(loss)
        self.acc_tracker.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, batch):
        x, y = batch
        logits = self(x, training=False)
        self.loss_tracker.update_state(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        self.acc_tracker.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


model = JetTagger([512, 512, 256])
gradwatch.watch(model)
model(data[:2])
model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9))

model.fit(data[:7000], cls[:7000], batch_size=128, epochs=7, verbose=2, validation_data=(data[7000:], cls[7000:]))
print("test:", model.evaluate(data[7000:], cls[7000:], verbose=0, return_dict=True))
