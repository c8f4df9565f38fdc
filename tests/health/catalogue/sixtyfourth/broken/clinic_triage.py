import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

VITALS = 14
LEVELS = 4


def make_patients(rng, rows):
    vitals = rng.normal(size=(rows, VITALS))
    severity = vitals[:, 0] + 0.8 * vitals[:, 1] * vitals[:, 2] + 0.6 * np.abs(vitals[:, 3])
    severity = severity + 0.15 * rng.normal(size=rows)
    level = np.digitize(severity, [-0.4, 0.5, 1.4])
    crowd = vitals[:, 4] + 0.5 * vitals[:, 5]
    wait_seconds = 5400 + 2400 * np.tanh(crowd) - 900 * vitals[:, 0] + 300 * rng.normal(size=rows)
    return vitals.astype("float32"), level.astype("int32"), wait_seconds


class Triage(keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk_a = keras.layers.Dense(96, activation="relu", name="trunk_a")
        self.trunk_b = keras.layers.Dense(64, activation="relu", name="trunk_b")
        self.level = keras.layers.Dense(LEVELS, name="level")
        self.wait = keras.layers.Dense(1, name="wait")

    def call(self, x, training=False):
        h = self.trunk_b(self.trunk_a(x))
        return self.level(h), self.wait(h)

    def train_step(self, data):
        x, (level, wait) = data
        with tf.GradientTape() as tape:
            logits, guess = self(x, training=True)
            level_loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=level, logits=logits))
            wait_loss = tf.reduce_mean(tf.square(wait - guess[:, 0]))
            loss = level_loss + wait_loss
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "level": level_loss, "wait": wait_loss}


rng = np.random.default_rng(SEED)
vitals, level, wait_seconds = make_patients(rng, 6000)
wait = wait_seconds.astype("float32")

model = Triage()
model(vitals[:2])
model.compile(optimizer=keras.optimizers.Adam(2e-3, clipnorm=1.0))
gradwatch.watch(model)
history = model.fit(vitals[:5000], (level[:5000], wait[:5000]), batch_size=64, epochs=35, verbose=0)
for key in ("level", "wait"):
    print(key, [round(float(v), 3) for v in history.history[key][::5]])

logits, guess = model(vitals[5000:])
accuracy = float((np.asarray(logits).argmax(axis=1) == level[5000:]).mean())
fit = float(r2_score(wait[5000:], np.asarray(guess)[:, 0]))
print("accuracy", accuracy, "r2", fit)
print("SCORE", 0.5 * (accuracy + max(fit, -1.0)))
