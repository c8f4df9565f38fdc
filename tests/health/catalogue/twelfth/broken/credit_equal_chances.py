"""Credit scoring with equal chances.

A tabular network decides on loans. Beside the usual cross-entropy a second term keeps the mean score of good payers
alike in the two customer groups (equality of opportunity).
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
BATCH = 128
EPOCHS = 8

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def make_customers(n):
    group = (rng.random(n) < 0.075).astype("float32")
    income = rng.lognormal(10.3 - 0.15 * group, 0.5, n)
    debt = income * rng.beta(2, 5, n)
    years = rng.gamma(2.0, 4.0, n)
    late = rng.poisson(0.8 + 2.0 * debt / income)
    score = 1.2 * (np.log(income) - 10.3) - 3.5 * (debt / income - 0.28) + 0.08 * (years - 8.0) - 0.7 * (late - 1.4)
    paid = (score + rng.logistic(0, 0.5, n) > 0).astype("float32")
    x = np.stack(
        [(np.log(income) - 10.3) / 0.5, (debt / income - 0.28) / 0.16, (years - 8) / 5.6, (late - 1.4) / 1.3, group],
        axis=1,
    )
    return x.astype("float32"), np.stack([paid, group], axis=1).astype("float32")


class FairScorer(keras.Model):
    def __init__(self, penalty=0.5, **kwargs):
        super().__init__(**kwargs)
        self.penalty = penalty
        self.hidden_1 = layers.Dense(48, activation="relu", name="hidden_1")
        self.hidden_2 = layers.Dense(48, activation="relu", name="hidden_2")
        self.score = layers.Dense(1, name="score")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.gap_tracker = keras.metrics.Mean(name="gap")

    @property
    def metrics(self):
        return [self.loss_tracker, self.gap_tracker]

    def call(self, x):
        return self.score(self.hidden_2(self.hidden_1(x)))[:, 0]

    def opportunity(self, probability, paid, member):
        good = paid * member
        return tf.reduce_sum(probability * good) / tf.reduce_sum(good)

    def train_step(self, data):
        x, target = data
        paid, group = target[:, 0], target[:, 1]
        with tf.GradientTape() as tape:
            logit = self(x, training=True)
            entropy = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=paid, logits=logit))
            probability = tf.sigmoid(logit)
            gap = self.opportunity(probability, paid, group) - self.opportunity(probability, paid, 1.0 - group)
            loss = entropy + self.penalty * tf.square(gap)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.gap_tracker.update_state(tf.abs(gap))
        return {m.name: m.result() for m in self.metrics}


x_train, y_train = make_customers(5000)
x_test, y_test = make_customers(2000)

model = FairScorer(name="fair_scorer")
gradwatch.watch(model)
model.build((None, 5))
model.compile(optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4))
model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=2)

logit = np.asarray(model(x_test))
accuracy = np.mean((logit > 0) == (y_test[:, 0] > 0.5))
chance = max(y_test[:, 0].mean(), 1 - y_test[:, 0].mean())
print(f"score accuracy {accuracy:.4f} chance {chance:.4f}")
