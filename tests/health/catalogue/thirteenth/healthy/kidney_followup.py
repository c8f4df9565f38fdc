"""Rank kidney patients by how soon they will need dialysis.

Follow-up ends for most patients before the event (more than half are censored), so the
network is trained on the Cox partial likelihood: every event is a softmax over all
patients still at risk.  The loss needs large risk sets, hence batches of 1,024, and it
sits near the logarithm of the risk set's size: a good model lowers it only a little.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PATIENTS, MEASURES, BATCH = 7168, 20, 1024


def make_cohort():
    """Exponential event times with a nonlinear risk; early administrative censoring."""
    x = rng.normal(size=(PATIENTS, MEASURES)).astype("float32")
    risk = 1.0 * x[:, 0] + 0.8 * x[:, 1] * x[:, 2] + 0.9 * np.abs(x[:, 3]) - 0.7 * x[:, 4]
    event_time = rng.exponential(np.exp(-risk) * 10.0)
    censor_time = rng.uniform(0.0, 6.0, PATIENTS)
    time = np.minimum(event_time, censor_time)
    happened = event_time <= censor_time
    target = np.stack([time, happened], axis=1).astype("float32")
    return x, target, risk


class CoxPartialLikelihood(keras.losses.Loss):
    """Mean over the events of  log sum exp(risk of those at risk) - risk of the one."""

    def call(self, target, risk):
        time, happened = target[:, 0], target[:, 1]
        risk = risk[:, 0]
        at_risk = time[None, :] >= time[:, None]
        scores = tf.where(at_risk, risk[None, :], tf.constant(-np.inf, risk.dtype))
        gaps = tf.reduce_logsumexp(scores, axis=1) - risk
        events = tf.maximum(tf.reduce_sum(happened), 1.0)
        # Spread over the batch, since the base class takes the mean afterwards.
        return happened * gaps * tf.cast(tf.size(risk), risk.dtype) / events


class RiskNet(keras.Model):
    def __init__(self):
        super().__init__(name="risk_net")
        self.trunk = [keras.layers.Dense(64, activation="gelu", name=f"trunk_{i}") for i in range(2)]
        self.drop = keras.layers.Dropout(0.3)
        # The partial likelihood does not see a constant added to all risks: no bias.
        self.risk = keras.layers.Dense(1, use_bias=False, name="log_hazard")

    def call(self, x, training=False):
        for layer in self.trunk:
            x = self.drop(layer(x), training=training)
        return self.risk(x)


def concordance(target, risk):
    time, happened = target[:, 0], target[:, 1] > 0
    comparable = happened[:, None] & (time[:, None] < time[None, :])
    right = (risk[:, None] > risk[None, :]) & comparable
    return right.sum() / comparable.sum()


def main():
    x, target, true_risk = make_cohort()
    train, test = slice(0, 5120), slice(5120, None)
    print(f"events: {target[:, 1].mean():.3f}, best concordance: {concordance(target[test], true_risk[test]):.3f}")
    model = RiskNet()
    model(x[:2])  # makes the weights
    schedule = keras.optimizers.schedules.CosineDecay(2e-3, 300, warmup_target=6e-3, warmup_steps=30)
    model.compile(optimizer=keras.optimizers.AdamW(schedule, weight_decay=0.05), loss=CoxPartialLikelihood())
    gradwatch.watch(model)
    model.fit(x[train], target[train], batch_size=BATCH, epochs=60, verbose=0)

    risk = model.predict(x[test], batch_size=2048, verbose=0)[:, 0]
    print(f"score concordance {concordance(target[test], risk):.4f} chance 0.5")


if __name__ == "__main__":
    main()
