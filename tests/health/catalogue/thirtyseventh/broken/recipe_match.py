"""Learn user and recipe embeddings from clicks by pairwise ranking against randomly drawn recipes."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

seed = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)

USERS, RECIPES, RANK, BATCH = 400, 500, 16, 128

user_taste = rng.normal(0, 1, (USERS, 6))
recipe_style = rng.normal(0, 1, (RECIPES, 6))
appeal = user_taste @ recipe_style.T + rng.normal(0, 0.5, RECIPES)
clicks, held_out = [], []
for u in range(USERS):
    p = np.exp(1.2 * (appeal[u] - appeal[u].max()))
    liked = rng.choice(RECIPES, 36, replace=False, p=p / p.sum())
    clicks += [(u, r) for r in liked[:30]]
    held_out.append(liked[30:])
clicks = np.array(clicks, "int32")

train = (
    tf.data.Dataset.from_tensor_slices((clicks[:, 0], clicks[:, 1]))
    .shuffle(len(clicks), seed=seed)
    .batch(BATCH, drop_remainder=True)
)


class Matcher(keras.Model):
    def __init__(self):
        super().__init__()
        self.user = layers.Embedding(USERS, RANK, embeddings_regularizer=None)
        self.recipe = layers.Embedding(RECIPES, RANK)
        self.popularity = layers.Embedding(RECIPES, 1, embeddings_initializer="zeros")

    def call(self, inputs):
        user, recipe = inputs
        dot = tf.reduce_sum(self.user(user) * self.recipe(recipe), -1)
        return dot + self.popularity(recipe)[..., 0]


model = Matcher()
model((clicks[:2, 0], clicks[:2, 1]))
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)


@tf.function
def train_step(user, liked):
    other = rng.integers(0, RECIPES, BATCH).astype("int32")
    with tf.GradientTape() as tape:
        margin = model((user, liked)) - model((user, other))
        ranking = tf.reduce_mean(tf.nn.softplus(-margin))
        decay = tf.reduce_mean(tf.square(model.user(user))) + tf.reduce_mean(tf.square(model.recipe(liked)))
        loss = ranking + 0.02 * decay
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return ranking


for epoch in range(12):
    losses = [float(train_step(u, r)) for u, r in train]
    print(f"epoch {epoch} ranking loss {np.mean(losses):.4f}")

users = np.arange(USERS)
scores = np.stack([model((np.full(RECIPES, u), np.arange(RECIPES))).numpy() for u in users])
scores[clicks[:, 0], clicks[:, 1]] = -np.inf
top = np.argsort(-scores, 1)[:, :20]
recall = np.mean([len(set(top[u]) & set(held_out[u])) / len(held_out[u]) for u in users])
print("SCORE recall_at_20", round(float(recall), 4))
