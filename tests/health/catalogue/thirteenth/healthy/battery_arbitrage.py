"""Buy, hold or sell: run a battery on the hourly power market by advantage actor-critic.

Prices follow the hour with strong noise, so the return of one day says little: the actor's
loss wanders around zero with either sign, and the critic's loss grows while the
returns grow.  Impossible moves (selling from an empty battery) are masked with -inf
before the softmax.  An entropy bonus is faded out over the training.
"""

import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

HOURS, CAPACITY, DAYS, UPDATES = 24, 3, 48, 400
HOURLY_MEAN = (
    1.0 + 0.6 * np.sin(2 * np.pi * (np.arange(HOURS) - 9) / 24) + 0.4 * np.sin(4 * np.pi * np.arange(HOURS) / 24)
)


def observe(hour, price, charge):
    angle = 2 * np.pi * hour / HOURS
    n = len(price)
    return np.stack(
        [
            np.full(n, np.sin(angle)),
            np.full(n, np.cos(angle)),
            np.full(n, np.sin(2 * angle)),
            np.full(n, np.cos(2 * angle)),
            price - 1.0,
            charge / CAPACITY - 0.5,
            np.full(n, hour / HOURS - 0.5),
        ],
        axis=1,
    ).astype("float32")


def allowed_moves(charge):
    """Columns: sell, hold, buy."""
    return np.stack([charge > 0, np.ones_like(charge, bool), charge < CAPACITY], axis=1)


def run_days(choose, days, noise=0.35):
    """Plays whole days side by side; what is left in the battery at midnight is lost."""
    charge = np.zeros(days, int)
    seen, masks, moves, cash = [], [], [], []
    for hour in range(HOURS):
        price = HOURLY_MEAN[hour] + noise * rng.normal(size=days)
        obs, mask = observe(hour, price, charge), allowed_moves(charge)
        move = choose(obs, mask)
        charge = charge + (move - 1)
        for store, item in zip((seen, masks, moves, cash), (obs, mask, move, -(move - 1) * price)):
            store.append(item)
    return np.stack(seen), np.stack(masks), np.stack(moves), np.stack(cash).astype("float32")


def build(outputs, name):
    return keras.Sequential(
        [
            keras.Input((7,)),
            keras.layers.Dense(64, activation="tanh"),
            keras.layers.Dense(64, activation="tanh"),
            keras.layers.Dense(outputs, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01)),
        ],
        name=name,
    )


def main():
    actor, critic = build(3, "trader"), build(1, "valuer")
    gradwatch.watch(actor, critic)
    actor_opt = keras.optimizers.Adam(3e-3, global_clipnorm=0.5)
    critic_opt = keras.optimizers.Adam(5e-3)

    @tf.function
    def masked_logits(obs, mask):
        return tf.where(mask, actor(obs), -np.inf)

    def sample(obs, mask):
        logits = masked_logits(tf.constant(obs), tf.constant(mask)).numpy()
        return np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)

    def greedy(obs, mask):
        return np.argmax(masked_logits(tf.constant(obs), tf.constant(mask)).numpy(), axis=1)

    def random_move(obs, mask):
        return np.argmax(np.where(mask, rng.gumbel(size=mask.shape), -np.inf), axis=1)

    @tf.function
    def learn(obs, mask, move, returns, bonus):
        with tf.GradientTape() as tape:
            value = critic(obs)[:, 0]
            critic_loss = tf.reduce_mean(tf.square(returns - value))
        critic_opt.apply_gradients(
            zip(tape.gradient(critic_loss, critic.trainable_variables), critic.trainable_variables)
        )
        advantage = returns - value
        advantage /= tf.math.reduce_std(advantage) + 1e-6
        with tf.GradientTape() as tape:
            log_p = tf.nn.log_softmax(tf.where(mask, actor(obs), -np.inf))
            log_p = tf.where(mask, log_p, 0.0)  # exp(-inf) * -inf would be NaN
            p = tf.where(mask, tf.exp(log_p), 0.0)
            taken = tf.gather(log_p, move, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(p * log_p, axis=1))
            actor_loss = -tf.reduce_mean(advantage * taken) - bonus * entropy
        actor_opt.apply_gradients(zip(tape.gradient(actor_loss, actor.trainable_variables), actor.trainable_variables))

    for update in range(UPDATES):
        obs, mask, move, cash = run_days(sample, DAYS)
        returns = np.cumsum(cash[::-1], axis=0)[::-1]
        bonus = 0.03 * (1.0 - update / UPDATES)
        learn(
            obs.reshape(-1, 7),
            mask.reshape(-1, 3),
            move.reshape(-1),
            returns.reshape(-1).astype("float32"),
            tf.constant(bonus, tf.float32),
        )

    profit = run_days(greedy, 2000)[3].sum(0).mean()
    chance = run_days(random_move, 2000)[3].sum(0).mean()
    print(f"score profit_per_day {profit:.4f} chance {chance:.4f}")


if __name__ == "__main__":
    main()
