import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 121)

FEATURES = 12
rotation = np.random.default_rng(3).normal(size=(FEATURES, 3))


def make_rides(n):
    x = rng.normal(size=(n, FEATURES))
    z = x @ rotation / np.sqrt(FEATURES)
    score = np.sin(1.5 * z[:, 0]) + 0.8 * z[:, 1] * z[:, 2] + 0.4 * z[:, 1]
    y = np.digitize(score, [-0.7, 0.0, 0.7])
    return x.astype("float32"), y.astype("int32")


x_train, y_train = make_rides(8000)
x_test, y_test = make_rides(2000)

model = keras.Sequential([layers.Input((FEATURES,))])
for i in range(9):
    model.add(layers.Dense(48, activation="relu", name=f"block_{i}"))
model.add(layers.Dense(4, activation="softmax", name="wait_class"))

model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=0.05, momentum=0.9),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
history = model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=15,
    validation_split=0.1,
    verbose=2,
)

best = int(np.argmax(history.history["val_accuracy"]))
print("best epoch", best, "val accuracy", history.history["val_accuracy"][best])

pred = model.predict(x_test, verbose=0).argmax(axis=1)
for k in range(4):
    print("class", k, "true", int(np.sum(y_test == k)), "predicted", int(np.sum(pred == k)))
print("SCORE", float(np.mean(pred == y_test)))
