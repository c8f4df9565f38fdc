"""Players' ratings of board games: a factor model with a layer of its own."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PLAYERS, GAMES, RANK = 260, 110, 8
BATCH = 256
EPOCHS = 11


def make_ratings():
    """Taste follows a few styles of game; popular games are rated more often."""
    style = rng.dirichlet(np.full(5, 0.35), GAMES)
    taste = rng.normal(0, 1.0, (PLAYERS, 5))
    weight = rng.uniform(-1, 1, GAMES)  # light or heavy rules
    patience = rng.normal(0, 0.7, PLAYERS)
    liking = taste @ style.T * 1.3 + np.outer(patience, weight)
    liking += rng.normal(0, 0.35, PLAYERS)[:, None] + rng.normal(0, 0.3, GAMES)
    popularity = rng.zipf(1.6, GAMES).clip(1, 30).astype(float) ** 0.4
    seen = rng.random((PLAYERS, GAMES)) < 0.42 * popularity / popularity.mean()
    player, game = np.nonzero(seen)
    stars = 6.3 + 1.3 * liking[player, game] + rng.normal(0, 0.7, len(player))
    return player.astype("int32"), game.astype("int32"), np.clip(np.round(stars * 2) / 2, 1, 10)


class TasteFactors(layers.Layer):
    """How well a player's taste and a game's style go together."""

    def __init__(self, players, games, rank, **options):
        super().__init__(**options)
        self.players = players
        self.games = games
        self.rank = rank

    def build(self, input_shape):
        init = keras.initializers.RandomNormal(stddev=0.3)
        self.player_table = tf.Variable(init((self.players, self.rank)), name="player_table")
        self.game_table = tf.Variable(init((self.games, self.rank)), name="game_table")

    def call(self, pairs):
        player = tf.gather(self.player_table, pairs[:, 0])
        game = tf.gather(self.game_table, pairs[:, 1])
        return tf.reduce_sum(player * game, axis=-1)


class GameRater(keras.Model):
    def __init__(self):
        super().__init__()
        self.factors = TasteFactors(PLAYERS, GAMES, RANK)
        self.player_bias = layers.Embedding(PLAYERS, 1)
        self.game_bias = layers.Embedding(GAMES, 1)

    def call(self, pairs):
        bias = self.player_bias(pairs[:, 0]) + self.game_bias(pairs[:, 1])
        return self.factors(pairs) + bias[:, 0]


player, game, stars = make_ratings()
pairs = np.stack([player, game], 1)
order = rng.permutation(len(pairs))
cut = int(0.85 * len(pairs))
train, test = order[:cut], order[cut:]
mean = stars[train].mean()
print(f"{len(train)} ratings to learn from, {len(test)} held out")

dataset = (
    tf.data.Dataset.from_tensor_slices((pairs[train], (stars[train] - mean).astype("float32")))
    .shuffle(len(train), seed=SEED)
    .batch(BATCH, drop_remainder=True)
)

model = GameRater()
model(pairs[:2])
optimizer = keras.optimizers.Adam(0.02)
watch = gradwatch.watch(model)


@tf.function
def step(batch, rating):
    with tf.GradientTape() as tape:
        error = rating - model(batch, training=True)
        loss = tf.reduce_mean(tf.square(error))
        penalty = tf.add_n([tf.reduce_sum(tf.square(v)) for v in model.trainable_variables])
        total = loss + 2e-4 * penalty
    gradients = tape.gradient(total, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(EPOCHS):
    losses = [float(step(batch, rating)) for batch, rating in dataset]
    print(f"epoch {epoch + 1}: squared error {np.mean(losses):.3f}")

guess = model.predict(pairs[test], batch_size=1024, verbose=0) + mean
r2 = 1 - np.mean((guess - stars[test]) ** 2) / np.mean((stars[test] - mean) ** 2)
print(f"score {r2:.4f}")
