# Ratings of podcasts by listeners: matrix factorisation with biases, own training loop.
import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", 0))
np.random.seed(SEED)
keras.utils.set_random_seed(SEED)

LISTENERS, PODCASTS, TASTES, RATINGS = 800, 300, 4, 60000
RANK, BATCH, EPOCHS = 8, 256, 10


def ratings():
    taste = np.random.normal(size=(LISTENERS, TASTES))
    topic = np.random.normal(size=(PODCASTS, TASTES)) * np.array([1.0, 0.8, 0.6, 0.4])
    mood = np.random.normal(0, 0.35, LISTENERS)
    quality = np.random.normal(0, 0.4, PODCASTS)
    who = np.random.randint(0, LISTENERS, RATINGS)
    # a listener mostly plays what suits him
    offered = np.random.randint(0, PODCASTS, (RATINGS, 3))
    match = (taste[who][:, None] * topic[offered]).sum(-1)
    pick = np.argmax(match + np.random.gumbel(0, 3.0, match.shape), axis=1)
    what = offered[np.arange(RATINGS), pick]
    stars = 3.2 + mood[who] + quality[what] + 0.7 * match[np.arange(RATINGS), pick]
    stars = stars + np.random.normal(0, 0.3, RATINGS)
    return who.astype("int32"), what.astype("int32"), stars.astype("float32")


class Factors(keras.Model):
    """mean + bias of the listener + bias of the podcast + <listener, podcast>

    Listeners and podcasts without any rating get the plain mean.
    """

    def __init__(self, mean):
        super().__init__()
        self.mean = float(mean)
        neutral = keras.initializers.Zeros()
        self.listener = keras.layers.Embedding(LISTENERS, RANK, embeddings_initializer=neutral)
        self.podcast = keras.layers.Embedding(PODCASTS, RANK, embeddings_initializer=neutral)
        self.listener_bias = keras.layers.Embedding(LISTENERS, 1, embeddings_initializer=neutral)
        self.podcast_bias = keras.layers.Embedding(PODCASTS, 1, embeddings_initializer=neutral)

    def call(self, who, what):
        dot = tf.reduce_sum(self.listener(who) * self.podcast(what), axis=-1)
        return self.mean + dot + self.listener_bias(who)[:, 0] + self.podcast_bias(what)[:, 0]


who, what, stars = ratings()
split = int(0.9 * RATINGS)
model = Factors(stars[:split].mean())
model(who[:2], what[:2])
optimizer = keras.optimizers.Adam(5e-3)
gradwatch.watch(model)

train = tf.data.Dataset.from_tensor_slices((who[:split], what[:split], stars[:split]))
train = train.shuffle(split, seed=SEED).batch(BATCH, drop_remainder=True)


@tf.function
def update(u, p, s):
    with tf.GradientTape() as tape:
        error = s - model(u, p)
        penalty = 1e-6 * (tf.nn.l2_loss(model.listener.embeddings) + tf.nn.l2_loss(model.podcast.embeddings))
        loss = tf.reduce_mean(error**2) + penalty
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = [update(u, p, s) for u, p, s in train]
    print(f"epoch {epoch + 1:2d}: loss {np.mean([float(v) for v in losses]):.4f}")

guess = model(who[split:], what[split:]).numpy()
r2 = 1 - np.mean((guess - stars[split:]) ** 2) / np.var(stars[split:])
print("SCORE r2", round(float(r2), 4))
