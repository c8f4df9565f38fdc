import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

PIXELS = 64
CODE = 16
BATCH = 64
EPOCHS = 150


def damage(tiles):
    keep = tf.cast(tf.random.uniform(tf.shape(tiles)) > 0.15, tiles.dtype)
    return tiles * keep


digits = load_digits()
tiles = digits.data.astype("float32")
train, test = train_test_split(tiles, test_size=0.25, random_state=SEED)
center, spread = train.mean(), train.std()
train = (train - center) / spread
test = (test - center) / spread

encoder = keras.Sequential(
    [
        keras.Input((PIXELS,)),
        keras.layers.Dense(96, activation="relu", name="chip"),
        keras.layers.Dense(CODE, name="code"),
    ],
    name="encoder",
)
decoder = keras.Sequential(
    [
        keras.Input((CODE,)),
        keras.layers.Dense(96, activation="relu", name="grout"),
        keras.layers.Dense(PIXELS, name="tiles_out"),
    ],
    name="decoder",
)
inputs = keras.Input((PIXELS,))
restorer = keras.Model(inputs, decoder(encoder(inputs)))
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(restorer)
data = tf.data.Dataset.from_tensor_slices(train).shuffle(2000, seed=SEED).batch(BATCH)


@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        rebuilt = restorer(damage(batch), training=True)
        loss = tf.reduce_mean(tf.square(batch - rebuilt))
    grads = tape.gradient(loss, restorer.trainable_variables)
    optimizer.apply_gradients(zip(grads, restorer.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(EPOCHS):
    losses = [float(step(batch)) for batch in data]
    if epoch % 25 == 0:
        print("epoch", epoch, "loss", round(float(np.mean(losses)), 4))

rebuilt = restorer.predict(test, verbose=0)
print("SCORE", float(1.0 - np.mean((test - rebuilt) ** 2) / np.var(test)))
