import os

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

BATCH_SIZE = 64
EPOCHS = 80

X, y = make_classification(
    n_samples=3000,
    n_features=24,
    n_informative=12,
    n_redundant=4,
    class_sep=1.8,
    flip_y=0.0,
    random_state=SEED + 3,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=SEED)

scaler = StandardScaler()
X_train = scaler.fit_transform(X_train).astype("float32")
X_test = scaler.transform(X_test).astype("float32")
y_train = y_train.reshape(-1, 1).astype("float32")

train_ds = tf.data.Dataset.from_tensor_slices((X_train, y_train)).shuffle(3000, seed=SEED).batch(BATCH_SIZE)

model = keras.Sequential(
    [
        keras.layers.Input(shape=(X_train.shape[1],)),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
optimizer = keras.optimizers.Adam(learning_rate=0.001)
watch = gradwatch.watch(model)


def loss_fn(y_true, y_pred):
    y_pred = tf.clip_by_value(y_pred, 1e-6, 1.0 - 1e-6)
    return -tf.reduce_mean(y_true * tf.math.log(y_pred) + (1.0 - y_true) * tf.math.log(1.0 - y_pred))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        y_pred = model(x, training=True)
        loss = loss_fn(y, y_pred)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = []
    for x_batch, y_batch in train_ds:
        loss = train_step(x_batch, y_batch)
        watch.log(loss=loss)
        losses.append(float(loss))
    print(f"Epoch {epoch + 1}: loss {np.mean(losses):.4f}")

proba = model.predict(X_test, verbose=0)[:, 0]
accuracy = np.mean((proba > 0.5) == (y_test == 1))
print("SCORE", round(float(accuracy), 4))
