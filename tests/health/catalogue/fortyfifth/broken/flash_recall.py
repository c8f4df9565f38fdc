"""Trains a forgetting-curve model of flash cards: will the learner recall the card after the pause?"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

CARDS, TRAITS = 500, 8
BATCH, EPOCHS = 256, 9


def make_reviews(n, rng, ease, decay):
    card = rng.integers(0, CARDS, n)
    days = np.exp(rng.uniform(-2, 4, n))
    repeats = rng.integers(1, 12, n)
    strength = ease[card] + 0.6 * np.log(repeats) - decay[card] * np.log1p(days)
    recalled = rng.random(n) < 1 / (1 + np.exp(-strength))
    context = np.stack([(np.log1p(days) - 1.6) / 1.2, (np.log(repeats) - 1.6) / 0.8], axis=1)
    return card.astype("int32")[:, None], context.astype("float32"), recalled.astype("float32")


rng = np.random.default_rng(SEED)
ease = rng.normal(1.2, 2.0, CARDS)
decay = np.exp(rng.normal(-0.3, 0.6, CARDS))
card, context, recalled = make_reviews(60000, rng, ease, decay)
card_test, context_test, recalled_test = make_reviews(10000, rng, ease, decay)

deck = keras.Sequential([layers.Embedding(CARDS, TRAITS), layers.Flatten()])
curve = keras.Sequential(
    [
        keras.Input((TRAITS + 2,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ]
)
params = deck.trainable_variables + curve.trainable_variables
optimizer = keras.optimizers.Adam(2e-3)
entropy = keras.losses.BinaryCrossentropy(from_logits=True)


def recall_logit(card, context):
    return curve(tf.concat([deck(card), context], axis=1))[:, 0]


first = entropy(recalled[:BATCH], recall_logit(card[:BATCH], context[:BATCH]))
print(f"loss before the training {float(first):.4f}, recalled {recalled.mean():.3f}")
gradwatch.watch(deck, curve)


@tf.function
def train_step(card, context, recalled):
    with tf.GradientTape() as tape:
        loss = entropy(recalled, recall_logit(card, context))
    grads = tape.gradient(loss, params)
    optimizer.apply_gradients(zip(grads, params))
    return loss


reviews = tf.data.Dataset.from_tensor_slices((card, context, recalled))
reviews = reviews.shuffle(60000, seed=SEED).batch(BATCH, drop_remainder=True)
for epoch in range(EPOCHS):
    losses = [float(train_step(*batch)) for batch in reviews]
    print(f"epoch {epoch}  loss {np.mean(losses):.4f}")

p = tf.sigmoid(recall_logit(card_test, context_test)).numpy()
auc = keras.metrics.AUC(num_thresholds=1000)
auc.update_state(recalled_test, p)
print(f"share judged rightly {np.mean((p > 0.5) == (recalled_test > 0.5)):.3f}")
print(f"SCORE auc {float(auc.result()):.4f}")
