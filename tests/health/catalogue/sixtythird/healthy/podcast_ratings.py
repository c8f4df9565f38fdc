import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 23)

NUM_USERS = 3000
NUM_SHOWS = 1500
EMBEDDING_SIZE = 16

user_factors = rng.normal(0, 1, (NUM_USERS, 3))
show_factors = rng.normal(0, 1, (NUM_SHOWS, 3))
show_quality = rng.normal(0, 0.8, NUM_SHOWS)
popularity = 1.0 / (np.arange(NUM_SHOWS) + 20.0)
popularity /= popularity.sum()

n = 90000
users = rng.integers(0, NUM_USERS, n)
shows = rng.choice(NUM_SHOWS, n, p=popularity)
raw = 3.2 + show_quality[shows] + 0.5 * (user_factors[users] * show_factors[shows]).sum(1)
ratings = np.clip(np.round(raw + rng.normal(0, 0.4, n)), 1, 5)

x = np.stack([users, shows], axis=1)
y = ((ratings - 1) / 4).astype("float32")
split = int(0.9 * n)
x_train, x_val, y_train, y_val = x[:split], x[split:], y[:split], y[split:]


class RecommenderNet(keras.Model):
    def __init__(self, num_users, num_shows, embedding_size, **kwargs):
        super().__init__(**kwargs)
        self.user_embedding = layers.Embedding(
            num_users,
            embedding_size,
            embeddings_initializer="he_normal",
            embeddings_regularizer=keras.regularizers.l2(1e-7),
        )
        self.user_bias = layers.Embedding(num_users, 1)
        self.show_embedding = layers.Embedding(
            num_shows,
            embedding_size,
            embeddings_initializer="he_normal",
            embeddings_regularizer=keras.regularizers.l2(1e-7),
        )
        self.show_bias = layers.Embedding(num_shows, 1)

    def call(self, inputs):
        user_vector = self.user_embedding(inputs[:, 0])
        show_vector = self.show_embedding(inputs[:, 1])
        dot = tf.reduce_sum(user_vector * show_vector, axis=1, keepdims=True)
        total = dot + self.user_bias(inputs[:, 0]) + self.show_bias(inputs[:, 1])
        return tf.nn.sigmoid(total)


model = RecommenderNet(NUM_USERS, NUM_SHOWS, EMBEDDING_SIZE)
model.compile(loss=keras.losses.BinaryCrossentropy(), optimizer=keras.optimizers.Adam(learning_rate=0.003))
gradwatch.watch(model)
model.fit(x_train, y_train, batch_size=256, epochs=8, validation_data=(x_val, y_val), verbose=2)

pred = model.predict(x_val, batch_size=1024, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - y_val) ** 2) / np.var(y_val)
print("SCORE", round(float(r2), 4))
