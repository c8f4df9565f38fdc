import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

EPOCHS = 80
BATCH = 32

data = load_breast_cancer()
x_train, x_test, y_train, y_test = train_test_split(
    data.data.astype("float32"),
    data.target.astype("float32"),
    test_size=0.3,
    random_state=SEED,
    stratify=data.target,
)
scaler = StandardScaler().fit(x_train)
x_train = scaler.transform(x_train).astype("float32")
x_test = scaler.transform(x_test).astype("float32")

model = keras.Sequential(
    [
        keras.Input((30,)),
        keras.layers.Dense(32, activation="relu", name="dense_a"),
        keras.layers.Dense(16, activation="relu", name="dense_b"),
        keras.layers.Dense(1, activation="sigmoid", name="malignant"),
    ]
)
optimizer = keras.optimizers.Adam(3e-3)
watch = gradwatch.watch(model)


def binary_loss(y_true, y_pred):
    y_pred = tf.clip_by_value(y_pred, 1e-7, 1.0 - 1e-7)
    positive = y_true * tf.math.log(y_pred)
    negative = (1.0 - y_true) * tf.math.log(1.0 - y_pred)
    return -tf.reduce_mean(positive + negative)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        prob = model(xb, training=True)
        loss = binary_loss(yb[:, None], prob)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1000, seed=SEED).batch(BATCH)
for epoch in range(EPOCHS):
    losses = []
    for xb, yb in dataset:
        loss = train_step(xb, yb)
        watch.log(loss=loss)
        losses.append(float(loss))
    if epoch % 10 == 0:
        print("epoch", epoch, "loss", round(float(np.mean(losses)), 4))

prob = model.predict(x_test, verbose=0)[:, 0]
hits = np.where(np.isnan(prob), 0.0, (prob > 0.5) == (y_test > 0.5))
print("SCORE", float(np.mean(hits)))
