"""Household insurance: probability of a claim and expected cost, one network."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import gradwatch

tf.keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)


def policies(n):
    x = rng.normal(size=(n, 14))
    wear = np.tanh(x[:, 0] * x[:, 1]) + 0.8 * np.abs(x[:, 2]) - 0.6
    value = 0.8 * x[:, 7] + 0.5 * np.sin(2 * x[:, 8]) + 0.4 * x[:, 9] * x[:, 10]
    claim = rng.random(n) < 1 / (1 + np.exp(-3.0 * wear))
    cost = 1800 + 700 * value + 250 * rng.normal(size=n)
    return x.astype("float32"), claim.astype("float32")[:, None], cost.astype("float32")[:, None]


class ClaimNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.trunk = [layers.Dense(32, activation="relu"), layers.Dense(16, activation="relu")]
        self.occurs = layers.Dense(1)
        self.cost = layers.Dense(1)
        self.tracker = tf.keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        for layer in self.trunk:
            x = layer(x)
        return self.occurs(x), self.cost(x)

    def train_step(self, data):
        x, (claim, cost) = data
        with tf.GradientTape() as tape:
            logit, amount = self(x, training=True)
            l_claim = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(claim, logit))
            l_cost = tf.reduce_mean(tf.abs(cost - amount))
            loss = l_claim + l_cost
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


def auc(y, s):
    r = np.argsort(np.argsort(s)) + 1
    p = y.sum()
    return (r[y > 0.5].sum() - p * (p + 1) / 2) / (p * (len(y) - p))


x, claim, cost = policies(6000)
xt, ct, at = policies(1500)
model = ClaimNet()
model(x[:2])
model.compile(optimizer=tf.keras.optimizers.SGD(0.02, momentum=0.9, global_clipnorm=1.0))
gradwatch.watch(model)
h = model.fit(x, (claim, cost), batch_size=50, epochs=46, verbose=0)
logit, amount = model.predict(xt, verbose=0)
print(
    "loss %.3f  AUC of claims on new policies %.3f  cost R2 %.3f"
    % (h.history["loss"][-1], auc(ct.ravel(), logit.ravel()), 1 - np.mean((amount - at) ** 2) / at.var())
)
