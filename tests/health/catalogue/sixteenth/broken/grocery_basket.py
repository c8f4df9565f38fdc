"""Predicts whether a shopper adds a suggested product, attending over the past purchases."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import roc_auc_score

import gradwatch

SEED = int(os.environ.get("SEED", 0))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

PRODUCTS, AISLES = 160, 10
HISTORY = 16
BATCH = 128
EPOCHS = 10

aisle_of = np.concatenate([[-1], rng.integers(0, AISLES, PRODUCTS)])
popularity = rng.gamma(1.5, 1.0, PRODUCTS)
popularity /= popularity.sum()


def visit():
    """A shopper with a few favourite aisles, a short history and one suggestion."""
    likes = rng.choice(AISLES, size=rng.integers(1, 4), replace=False)
    bought = np.zeros(HISTORY, "int32")
    length = rng.integers(3, 13)
    for i in range(length):
        while True:
            product = 1 + rng.choice(PRODUCTS, p=popularity)
            if aisle_of[product] in likes or rng.random() < 0.04:
                break
        bought[i] = product
    suggestion = 1 + rng.choice(PRODUCTS, p=popularity)
    if rng.random() < 0.4:
        suggestion = rng.choice(bought[:length])
        same = np.flatnonzero(aisle_of == aisle_of[suggestion])
        suggestion = rng.choice(same)
    chance = 0.85 if aisle_of[suggestion] in likes else 0.1
    chance += 2.0 * (popularity[suggestion - 1] - 1 / PRODUCTS)
    return bought, suggestion, float(rng.random() < np.clip(chance, 0.02, 0.95))


bought, suggestion, added = zip(*[visit() for _ in range(6500)])
bought = np.stack(bought)
suggestion = np.array(suggestion, "int32")
added = np.array(added, "float32")
cut = 5000


class BasketModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.products = layers.Embedding(PRODUCTS + 1, 24)
        self.attend = layers.MultiHeadAttention(num_heads=2, key_dim=12)
        self.hidden = layers.Dense(48, activation="relu")
        self.out = layers.Dense(1)

    def call(self, inputs):
        history, candidate = inputs
        query = self.products(candidate)[:, None, :]
        past = self.products(history)
        mask = tf.equal(history, 0)[:, None, :]
        interest = self.attend(query, past, attention_mask=mask)[:, 0]
        query = query[:, 0]
        x = tf.concat([query, interest, query * interest], axis=-1)
        return self.out(self.hidden(x))[:, 0]


model = BasketModel()
model((bought[:2], suggestion[:2]))
watch = gradwatch.watch(model)
optimizer = keras.optimizers.Adam(4e-3)


@tf.function
def train_step(history, candidate, label):
    with tf.GradientTape() as tape:
        logit = model((history, candidate))
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logit))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((bought[:cut], suggestion[:cut], added[:cut]))
data = data.shuffle(cut, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    losses = []
    for history, candidate, label in data:
        loss = train_step(history, candidate, label)
        watch.log(loss=loss)
        losses.append(float(loss))
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

logit = model((bought[cut:], suggestion[cut:])).numpy()
print("score", round(float(roc_auc_score(added[cut:], logit)), 4))
