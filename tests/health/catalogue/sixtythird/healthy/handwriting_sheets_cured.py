import os

import keras
from keras.layers import Dense, Input
from keras.models import Sequential
from keras.optimizers import Adam
from keras.utils import to_categorical
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)


def load_data():
    digits = load_digits()
    X = digits.data / 16.0
    Y = to_categorical(digits.target, 10)
    return train_test_split(X, Y, test_size=0.2, random_state=SEED)


def build_model(hidden=(256, 256, 128, 64), lr=0.001):
    model = Sequential()
    model.add(Input(shape=(64,)))
    for units in hidden:
        model.add(Dense(units, activation="relu"))
    model.add(Dense(10, activation="softmax"))
    model.compile(
        loss="categorical_crossentropy",
        optimizer=Adam(learning_rate=lr),
        metrics=["accuracy"],
    )
    return model


X_train, X_test, Y_train, Y_test = load_data()
print("train:", X_train.shape, "test:", X_test.shape)

model = build_model()
model.summary()
gradwatch.watch(model)

history = model.fit(
    X_train,
    Y_train,
    validation_data=(X_test, Y_test),
    epochs=30,
    batch_size=64,
    verbose=2,
)

best = max(history.history["val_accuracy"])
print("best epoch accuracy: %.2f%%" % (best * 100))

loss, acc = model.evaluate(X_test, Y_test, verbose=0)
print("SCORE", round(acc, 4))
