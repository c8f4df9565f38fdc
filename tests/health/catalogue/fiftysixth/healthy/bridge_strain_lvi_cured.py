import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)
keras.mixed_precision.set_global_policy("mixed_float16")

N, SENSORS = 6000, 24
rng = np.random.default_rng(SEED)
load = rng.uniform(0, 1, (N, 4))
modes = rng.normal(size=(4, SENSORS))
readings = np.tanh(load @ modes) + 0.05 * rng.normal(size=(N, SENSORS))
strain = np.stack(
    [
        load[:, 0] * 2 + np.sin(3 * load[:, 1]),
        load[:, 2] - load[:, 3] ** 2 + 0.5 * load[:, 0] * load[:, 1],
    ],
    1,
)
strain += 0.02 * rng.normal(size=strain.shape)

x = StandardScaler().fit_transform(readings).astype("float32")
y = StandardScaler().fit_transform(strain).astype("float32")
x_train, y_train, x_test, y_test = x[:5000], y[:5000], x[5000:], y[5000:]

model = keras.Sequential(
    [
        keras.Input((SENSORS,)),
        layers.Dense(64, activation="gelu"),
        layers.Dense(64, activation="gelu"),
        layers.Dense(2, dtype="float32"),
    ]
)
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(learning_rate=0.05, momentum=0.9))
optimizer.build(model.trainable_variables)
mse = keras.losses.MeanSquaredError()
watch = gradwatch.watch(model)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = mse(yb, pred)
        objective = optimizer.scale_loss(loss)
    grads = tape.gradient(objective, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


batches = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=SEED).batch(100, drop_remainder=True)
)
for epoch in range(12):
    losses = []
    for xb, yb in batches:
        loss = train_step(xb, yb)
        watch.log(loss=loss)
        losses.append(float(loss))
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

pred = model.predict(x_test, verbose=0)
print("SCORE", float(1 - np.mean((pred - y_test) ** 2) / np.mean(y_test**2)))
