import os

import keras
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

N_CODES, DIM, SLOTS = 32, 8, 6


class Codebook(layers.Layer):
    def build(self, input_shape):
        self.table = self.add_weight(
            shape=(N_CODES, DIM), initializer=keras.initializers.RandomUniform(-0.5, 0.5), name="table"
        )

    def call(self, z):
        flat = tf.reshape(z, (-1, DIM))
        table = tf.convert_to_tensor(self.table)
        distance = (
            tf.reduce_sum(flat**2, 1, keepdims=True)
            - 2 * tf.matmul(flat, table, transpose_b=True)
            + tf.reduce_sum(table**2, 1)
        )
        picked = tf.gather(table, tf.argmin(distance, axis=1))
        quantized = tf.reshape(picked, tf.shape(z))
        codebook_loss = tf.reduce_mean((quantized - tf.stop_gradient(z)) ** 2)
        commitment = tf.reduce_mean((tf.stop_gradient(quantized) - z) ** 2)
        self.add_loss(codebook_loss + 0.25 * commitment)
        return quantized


class TileVQ(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                layers.Dense(128, activation="relu"),
                layers.Dense(SLOTS * DIM),
                layers.Reshape((SLOTS, DIM)),
            ]
        )
        self.codebook = Codebook()
        self.decoder = keras.Sequential(
            [
                layers.Flatten(),
                layers.Dense(128, activation="relu"),
                layers.Dense(64, activation="sigmoid"),
            ]
        )

    def call(self, x):
        return self.decoder(self.codebook(self.encoder(x)))

    def train_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        with tf.GradientTape() as tape:
            recon = self(x, training=True)
            recon_loss = tf.reduce_mean(tf.reduce_sum((x - recon) ** 2, axis=-1))
            loss = recon_loss + tf.add_n(self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "recon": recon_loss}


tiles = (load_digits().data / 16.0).astype("float32")
train, test = train_test_split(tiles, test_size=0.25, random_state=SEED)
model = TileVQ()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
model(train[:2])
gradwatch.watch(model)
model.fit(train, batch_size=32, epochs=60, verbose=2 if os.environ.get("SHOW") else 0)

recon = model.predict(test, verbose=0)
score = 1 - ((test - recon) ** 2).sum() / ((test - train.mean(0)) ** 2).sum()
print("SCORE", round(float(score), 4))
