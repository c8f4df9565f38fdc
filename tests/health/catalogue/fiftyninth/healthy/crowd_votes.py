import os

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))

keras.utils.set_random_seed(SEED)

rng = np.random.default_rng(SEED + 47)
digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
x_train, x_test, y_train, y_test = train_test_split(
    images, digits.target, test_size=0.3, random_state=SEED, stratify=digits.target
)

# every picture was labelled by three volunteers, each wrong four times in ten
votes = np.stack(
    [np.where(rng.random(len(y_train)) < 0.4, rng.integers(0, 10, len(y_train)), y_train) for _ in range(3)]
)
x_all, y_all = np.tile(x_train, (3, 1, 1, 1)), votes.reshape(-1)

PERIOD = 59 * 4


class WarmRestarts(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        step = int(self.model.optimizer.iterations.numpy())
        phase = (step % PERIOD) / PERIOD
        self.model.optimizer.learning_rate.assign(1e-5 + 0.5 * 0.05 * (1 + np.cos(np.pi * phase)))


model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.GaussianNoise(0.1),
        layers.Conv2D(24, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(10),
    ]
)
model.compile(
    optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
watch = gradwatch.watch(model)
model.fit(x_all, y_all, batch_size=64, epochs=16, verbose=2, callbacks=[WarmRestarts()])

pred = model.predict(x_test, verbose=0).argmax(-1)
print("SCORE", float((pred == y_test).mean()))
