import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

COOKS, RECIPES, TASTES = 300, 240, 6
N_TRAIN, N_TEST = 30000, 5000


def ratings(count, cook_taste, recipe_taste):
    cook = rng.integers(0, COOKS, count).astype("int32")
    recipe = rng.integers(0, RECIPES, count).astype("int32")
    match = (cook_taste[cook] * recipe_taste[recipe]).sum(axis=1)
    liked = (rng.random(count) < 1 / (1 + np.exp(-1.6 * match))).astype("float32")
    return cook, recipe, liked


cook_taste = rng.normal(0, 1, (COOKS, TASTES))
recipe_taste = rng.normal(0, 1, (RECIPES, TASTES))
train_set = ratings(N_TRAIN, cook_taste, recipe_taste)
cook_test, recipe_test, liked_test = ratings(N_TEST, cook_taste, recipe_taste)


def tower(size, name):
    return keras.Sequential(
        [
            keras.Input((), dtype="int32"),
            keras.layers.Embedding(size, 16, embeddings_initializer="glorot_normal", name=name + "_ids"),
            keras.layers.Dense(8, name=name + "_vector"),
        ],
        name=name,
    )


cook_tower = tower(COOKS, "cook")
recipe_tower = tower(RECIPES, "recipe")
optimizer = keras.optimizers.Adam(1e-2)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
watch = gradwatch.watch(cook_tower, recipe_tower)


@tf.function
def train_step(cook, recipe, liked):
    recipe_vec = recipe_tower(recipe, training=True)
    with tf.GradientTape() as tape:
        cook_vec = cook_tower(cook, training=True)
        score = tf.reduce_sum(cook_vec * recipe_vec, axis=1)
        loss = bce(liked, score)
    variables = cook_tower.trainable_variables + recipe_tower.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(train_set).shuffle(N_TRAIN, seed=SEED).batch(256)
for epoch in range(5):
    for cook, recipe, liked in data:
        loss = train_step(cook, recipe, liked)
        watch.log(loss=loss)

c = cook_tower.predict(cook_test, batch_size=1024, verbose=0)
r = recipe_tower.predict(recipe_test, batch_size=1024, verbose=0)
print("SCORE", float(roc_auc_score(liked_test, (c * r).sum(axis=1))))
