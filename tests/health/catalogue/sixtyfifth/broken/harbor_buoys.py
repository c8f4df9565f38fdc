import os

import keras
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
x_train, x_test, y_train, y_test = train_test_split(
    images, digits.target, test_size=0.2, stratify=digits.target, random_state=SEED
)

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        keras.layers.RandomTranslation(0.05, 0.05, fill_mode="constant"),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="conv_near"),
        keras.layers.Conv2D(32, 3, activation="relu", name="conv_far"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu", name="plate"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(10, activation="softmax", name="number"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.1),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    validation_data=(x_test, y_test),
    batch_size=32,
    epochs=12,
    verbose=2,
)

guess = model.predict(x_test, verbose=0).argmax(axis=1)
for digit in range(10):
    hit = np.mean(guess[y_test == digit] == digit)
    print("buoy", digit, "recall", round(float(hit), 3))
print("SCORE", float(model.evaluate(x_test, y_test, verbose=0)[1]))
