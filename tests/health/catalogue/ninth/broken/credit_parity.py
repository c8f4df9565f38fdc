"""Credit default scoring with a demographic-parity term.

The mean score of the protected group should not differ from that of the others;
the squared gap is added to the usual cross-entropy.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def load_applications(n=6400):
    g = np.random.default_rng(SEED)
    protected = (g.random(n) < 0.06).astype("float32")
    income = g.normal(0.0, 1.0, n) - 0.4 * protected
    debt = g.normal(0.0, 1.0, n) + 0.3 * protected
    years = g.exponential(1.0, n) - 1.0
    other = g.normal(size=(n, 9))
    logit = -0.4 - 1.3 * income + 1.1 * debt - 0.7 * years + 0.6 * other[:, 0] * other[:, 1]
    default = (g.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")
    x = np.column_stack([income, debt, years, other]).astype("float32")
    return x, protected[:, None], default[:, None]


def group_mean(score, member):
    return tf.reduce_sum(score * member) / tf.reduce_sum(member)


class ParityClassifier(keras.Model):
    def __init__(self, weight=2.0, **kw):
        super().__init__(**kw)
        self.parity_weight = weight
        self.trunk = keras.Sequential(
            [
                keras.layers.Dense(512, activation="gelu"),
                keras.layers.Dropout(0.1),
                keras.layers.Dense(256, activation="gelu"),
            ]
        )
        self.score = keras.layers.Dense(1, activation="sigmoid", name="score")
        self.gap = keras.metrics.Mean(name="gap")

    def call(self, x, training=None):
        return self.score(self.trunk(x, training=training))

    def train_step(self, data):
        (x, protected), y = data
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            gap = group_mean(p, protected) - group_mean(p, 1.0 - protected)
            loss = self.compute_loss(x=x, y=y, y_pred=p) + self.parity_weight * tf.square(gap)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        self.gap.update_state(gap)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
        return {m.name: m.result() for m in self.metrics}


x, protected, default = load_applications()
model = ParityClassifier(name="scorecard")
gradwatch.watch(model)
model(x[:2])
model.compile(optimizer=keras.optimizers.Nadam(5e-4), loss="binary_crossentropy")
data = tf.data.Dataset.from_tensor_slices(((x, protected), default)).shuffle(6400, seed=SEED).batch(64)
model.fit(data, epochs=3, verbose=2)
