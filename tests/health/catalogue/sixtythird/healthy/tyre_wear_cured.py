import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 2)

n = 3000
load = rng.uniform(200, 900, n)
speed = rng.uniform(20, 180, n)
pressure = rng.normal(2.3, 0.2, n)
temperature = rng.normal(25, 9, n)
mileage = rng.uniform(0, 40000, n)
wear = (
    0.00012 * mileage + 0.002 * load + 0.00006 * speed**2 - 1.5 * pressure + 0.03 * temperature + rng.normal(0, 0.2, n)
)
X = np.stack([load, speed, pressure, temperature, mileage], axis=1)
y = (wear - wear.mean()) / wear.std()

x_train, x_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=SEED)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train).astype(np.float32)
x_test = scaler.transform(x_test).astype(np.float32)
y_train = y_train.astype(np.float32)
y_test = y_test.astype(np.float32)

train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train[:, None]))
train_dataset = train_dataset.shuffle(buffer_size=1024, seed=SEED).batch(64)


class MyModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = keras.layers.Dense(64, activation="relu")
        self.d2 = keras.layers.Dense(32, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.d2(self.d1(x)))


model = MyModel()
model(x_train[:1])
optimizer = keras.optimizers.Adam(1e-3)
watch = gradwatch.watch(model)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        predictions = model(x, training=True)
        loss = tf.reduce_mean(tf.square(y - predictions))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(60):
    total = 0.0
    for step, (x_batch, y_batch) in enumerate(train_dataset):
        loss = train_step(x_batch, y_batch)
        watch.log(loss=loss)
        total += float(loss)
    print(f"Epoch {epoch + 1}, Loss: {total / (step + 1):.4f}")

pred = model(x_test).numpy().ravel()
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print("SCORE", round(float(r2), 4))
