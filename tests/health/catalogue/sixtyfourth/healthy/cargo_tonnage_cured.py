import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

ROUTES = 20
BATCH = 64
EPOCHS = 40


def make_manifests(rng, rows):
    route = rng.integers(0, ROUTES, rows)
    route_effect = np.random.default_rng(7).normal(0, 0.8, ROUTES)
    load = rng.normal(size=(rows, 8))
    tonnage = (
        route_effect[route]
        + 0.9 * load[:, 0]
        - 0.6 * load[:, 1] * load[:, 2]
        + 0.5 * np.sin(2 * load[:, 3])
        + rng.normal(0, 0.15, rows)
    )
    return route.astype("int32"), load.astype("float32"), tonnage.astype("float32")


def build():
    route = keras.Input((), dtype="int32", name="route")
    load = keras.Input((8,), name="load")
    code = keras.layers.Embedding(ROUTES, 6, name="route_code")(route)
    h = keras.layers.Concatenate()([code, load])
    h = keras.layers.Dense(64, activation="relu", name="hold_a")(h)
    h = keras.layers.Dense(32, activation="relu", name="hold_b")(h)
    return keras.Model([route, load], keras.layers.Dense(1, name="tonnage")(h))


rng = np.random.default_rng(SEED)
route, load, tonnage = make_manifests(rng, 5000)
held_route, held_load, held_tonnage = make_manifests(rng, 1000)

model = build()
optimizer = keras.optimizers.Adam(2e-3)
watch = gradwatch.watch(model)
data = tf.data.Dataset.from_tensor_slices(((route, load), tonnage)).shuffle(5000, seed=SEED).batch(BATCH)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)[:, 0]
        loss = tf.reduce_mean(tf.square(y - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.log(loss=loss)
    return loss


for epoch in range(EPOCHS):
    losses = [float(train_step(x, y)) for x, y in data]
    if epoch % 8 == 0:
        print("epoch", epoch, "loss", round(float(np.mean(losses)), 4))

forecast = model.predict([held_route, held_load], verbose=0)[:, 0]
print("SCORE", float(r2_score(held_tonnage, forecast)))
