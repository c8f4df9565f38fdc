"""A news kiosk learns by policy gradient how many papers to put out each morning of a week."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DAYS = 7
CHOICES = np.array([0, 10, 20, 30, 45, 60], "float32")
WEEKS = 64
UPDATES = 200
PRICE, COST = 1.0, 0.45
WEEKDAY = np.array([22, 20, 21, 24, 30, 48, 12], "float32")


class Kiosk:
    """Demand depends on weekday, rain and yesterday's headline; leftovers are pulp."""

    def __init__(self, n, dice):
        self.n, self.dice = n, dice
        self.day = 0
        self.draw()

    def draw(self):
        self.rain = (self.dice.random(self.n) < 0.3).astype("float32")
        self.headline = self.dice.gamma(2.0, 0.5, self.n).astype("float32")

    def view(self):
        weekday = np.tile(np.eye(DAYS, dtype="float32")[self.day], (self.n, 1))
        return np.concatenate([weekday, self.rain[:, None], self.headline[:, None]], axis=1)

    def step(self, choice):
        mean = WEEKDAY[self.day] * (1 - 0.4 * self.rain) * (0.6 + 0.4 * self.headline)
        sold = np.minimum(self.dice.poisson(mean), CHOICES[choice])
        profit = PRICE * sold - COST * CHOICES[choice]
        self.day += 1
        self.draw()
        return (profit / 10.0).astype("float32")


policy = keras.Sequential(
    [
        keras.Input((DAYS + 2,)),
        layers.Dense(32, activation="tanh"),
        layers.Dense(len(CHOICES), kernel_initializer="zeros"),
    ]
)
watch = gradwatch.watch(policy)
optimizer = keras.optimizers.Adam(1e-2)
act = tf.function(policy)
baseline = tf.Variable(tf.zeros(DAYS), trainable=False)


@tf.function
def learn(views, choices, profits, entropy_weight):
    gain = profits - baseline[None, :]
    gain = gain / (tf.math.reduce_std(gain) + 1e-6)
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(policy(tf.reshape(views, (-1, DAYS + 2))))
        taken = tf.gather(log_p, tf.reshape(choices, (-1,)), batch_dims=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=-1))
        loss = -tf.reduce_mean(taken * tf.reshape(gain, (-1,))) - entropy_weight * entropy
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    baseline.assign(0.9 * baseline + 0.1 * tf.reduce_mean(profits, axis=0))
    return loss


def play(n, dice, greedy):
    kiosk = Kiosk(n, dice)
    views, choices, profits = [], [], []
    for _ in range(DAYS):
        view = kiosk.view()
        logits = act(view).numpy()
        if not greedy:
            logits = logits + dice.gumbel(size=logits.shape)
        choice = logits.argmax(axis=1).astype("int32")
        views.append(view)
        choices.append(choice)
        profits.append(kiosk.step(choice))
    return np.stack(views, 1), np.stack(choices, 1), np.stack(profits, 1)


print("untrained profit a week", play(1000, np.random.default_rng(3), False)[2].sum(1).mean())
for update in range(UPDATES):
    views, choices, profits = play(WEEKS, rng, greedy=False)
    weight = 0.03 * (1.0 - update / UPDATES)
    loss = learn(views, choices, profits, tf.constant(weight, tf.float32))
    watch.log(loss=loss)
    if update % 50 == 0:
        print(f"update {update} loss {float(loss):.4f} profit {profits.sum(1).mean():.2f}")

week = play(2000, np.random.default_rng(1000 + SEED), True)[2].sum(1)
print("score", round(float(week.mean()), 4))
