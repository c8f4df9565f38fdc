"""The course of a disease told from ten measures, by a network with two hidden layers.

The same training as ``learning_rate.py``, with one change: a tenth of the rate.
"""

import sys

import keras
from keras import layers
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import gradwatch

JIT = "--jit" in sys.argv
BATCH_SIZE = 64
EPOCHS = 40
LEARNING_RATE = 0.025

keras.utils.set_random_seed(0)
rows, course = load_diabetes(return_X_y=True, scaled=False)
rows = ((rows - rows.mean(axis=0)) / rows.std(axis=0)).astype("float32")
course = ((course - course.mean()) / course.std()).astype("float32")
train_rows, test_rows, train_course, test_course = train_test_split(rows, course, test_size=122, random_state=0)

model = keras.Sequential(
    [
        keras.Input((10,)),
        layers.Dense(32, activation="tanh", name="hidden_1"),
        layers.Dense(32, activation="tanh", name="hidden_2"),
        layers.Dense(1, name="course"),
    ],
    name="diabetes",
)
model.compile(optimizer=keras.optimizers.SGD(LEARNING_RATE), loss="mean_squared_error", jit_compile=JIT)
gradwatch.watch(
    model,
    name="diabetes",
    config={
        "steps": EPOCHS * len(train_rows) // BATCH_SIZE,
        "batch_size": BATCH_SIZE,
        "learning_rate": LEARNING_RATE,
    },
)
model.fit(train_rows, train_course, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=0)

error = model.evaluate(test_rows, test_course, verbose=0)
print(f"mean square error: {error:.2f}, of {test_course.var():.2f} for always the mean")
