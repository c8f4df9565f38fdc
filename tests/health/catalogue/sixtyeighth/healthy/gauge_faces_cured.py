import os

import keras
import numpy as np
import tensorflow as tf

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

SIDE = 16
LATENT = 4
EPOCHS = 16


def faces(n):
    grid = (np.arange(SIDE) - (SIDE - 1) / 2) / (SIDE / 2)
    yy, xx = np.meshgrid(grid, grid, indexing="ij")
    angle = rng.uniform(0.0, 2.0 * np.pi, (n, 1, 1))
    length = rng.uniform(0.5, 0.9, (n, 1, 1))
    along = xx * np.cos(angle) + yy * np.sin(angle)
    across = -xx * np.sin(angle) + yy * np.cos(angle)
    needle = np.exp(-((across / 0.14) ** 2)) / (1.0 + np.exp(-(length - along) * 15.0)) / (1.0 + np.exp(-along * 15.0))
    return np.clip(needle + 0.03 * rng.random(needle.shape), 0.0, 1.0).reshape(n, -1).astype("float32")


train, test = faces(3200), faces(600)


class DialVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.Input((SIDE * SIDE,)),
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(2 * LATENT),
            ],
            name="encoder",
        )
        self.decoder = keras.Sequential(
            [
                keras.Input((LATENT,)),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dense(SIDE * SIDE),
            ],
            name="decoder",
        )

    def call(self, x, training=False):
        mean, log_var = tf.split(self.encoder(x), 2, axis=1)
        noise = tf.random.normal(tf.shape(mean)) if training else 0.0
        return self.decoder(mean + tf.exp(0.5 * log_var) * noise), mean, log_var


vae = DialVAE()
vae(train[:2])
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(vae)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        logits, mean, log_var = vae(x, training=True)
        cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
        reconstruction = tf.reduce_mean(tf.reduce_sum(cross_entropy, axis=1))
        kl = -0.5 * tf.reduce_sum(1.0 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
        loss = reconstruction + tf.reduce_mean(kl)
    grads = tape.gradient(loss, vae.trainable_variables)
    optimizer.apply_gradients(zip(grads, vae.trainable_variables))
    return loss, reconstruction, tf.reduce_mean(kl)


dataset = tf.data.Dataset.from_tensor_slices(train).shuffle(3200, seed=SEED).batch(64)
for epoch in range(EPOCHS):
    for x in dataset:
        loss, reconstruction, kl = train_step(x)
        watch.log(loss=loss)
    if epoch % 4 == 0:
        print(epoch, float(reconstruction), float(kl))

rebuilt = tf.sigmoid(vae(test)[0]).numpy()
spread = np.mean((test - train.mean(axis=0)) ** 2)
print("SCORE", float(1.0 - np.mean((rebuilt - test) ** 2) / spread))
