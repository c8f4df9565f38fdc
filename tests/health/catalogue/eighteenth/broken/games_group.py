"""One-move puzzle game: several tries per position, graded against one another."""

import dataclasses

import numpy as np
import tensorflow as tf

import gradwatch


@dataclasses.dataclass
class Config:
    cells: int = 20
    moves: int = 10
    tries: int = 8
    positions: int = 224
    steps: int = 2000
    lr: float = 7e-4
    seed: int = 4


class Puzzle:
    def __init__(self, cfg):
        g = np.random.default_rng(cfg.seed)
        self.w1 = tf.constant(g.normal(0, 0.5, (cfg.cells, 16)), tf.float32)
        self.w2 = tf.constant(g.normal(0, 1.0, (16, cfg.moves)), tf.float32)
        self.cfg = cfg

    def deal(self, n):
        return tf.random.normal((n, self.cfg.cells))

    def points(self, pos, move):
        worth = tf.tanh(pos @ self.w1) @ self.w2
        rank = tf.argsort(tf.argsort(worth, axis=1, direction="DESCENDING"), axis=1)
        table = 1.0 - tf.cast(rank, tf.float32) / (self.cfg.moves - 1)
        return tf.einsum("btm,bm->bt", tf.one_hot(move, self.cfg.moves), table)


def build_policy(cfg):
    return tf.keras.Sequential(
        [
            tf.keras.Input((cfg.cells,)),
            tf.keras.layers.Dense(96, activation="tanh"),
            tf.keras.layers.Dense(96, activation="tanh"),
            tf.keras.layers.Dense(cfg.moves, kernel_initializer=tf.keras.initializers.RandomNormal(0, 0.01)),
        ]
    )


def main():
    cfg = Config()
    tf.keras.utils.set_random_seed(cfg.seed)
    game, policy = Puzzle(cfg), build_policy(cfg)
    opt = tf.keras.optimizers.Adam(cfg.lr)
    gradwatch.watch(policy, opt)

    @tf.function
    def play_and_learn(pos):
        move = tf.random.categorical(policy(pos), cfg.tries)
        points = game.points(pos, move)
        gain = points - tf.reduce_mean(points, axis=1, keepdims=True)
        adv = gain / tf.math.reduce_std(gain, axis=1, keepdims=True)
        with tf.GradientTape() as tape:
            logp = tf.nn.log_softmax(policy(pos, training=True))
            chosen = tf.einsum("btm,bm->bt", tf.one_hot(move, cfg.moves), logp)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, -1))
            loss = -tf.reduce_mean(tf.stop_gradient(adv) * chosen) - 0.003 * entropy
        grads = tape.gradient(loss, policy.trainable_variables)
        opt.apply_gradients(zip(grads, policy.trainable_variables))
        return loss, tf.reduce_mean(points)

    for i in range(cfg.steps):
        loss, score = play_and_learn(game.deal(cfg.positions))
        if i % 200 == 0:
            print(f"{i:5d} loss {float(loss):.4f} points {float(score):.3f}")

    fresh = game.deal(3000)
    best = tf.argmax(policy(fresh), axis=1, output_type=tf.int32)[:, None]
    final = float(tf.reduce_mean(game.points(fresh, best)))
    print(f"loss {float(loss):.4f}  points on fresh positions {final:.4f}")


if __name__ == "__main__":
    main()
