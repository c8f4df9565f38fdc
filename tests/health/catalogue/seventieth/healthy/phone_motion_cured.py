import os

import keras
import numpy as np

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED + 29)

STEPS = 50
ACTIVITIES = ["still", "walk", "run", "stairs", "bike"]


def make_recordings(n):
    kind = rng.integers(0, len(ACTIVITIES), n)
    t = np.linspace(0, 2.5, STEPS)
    rate = np.array([0.2, 1.8, 2.8, 1.5, 1.2])[kind] + rng.normal(0, 0.1, n)
    size = np.array([0.1, 1.0, 2.2, 1.2, 0.6])[kind] * rng.lognormal(0, 0.15, n)
    drift = np.array([0.0, 0.0, 0.0, 0.8, -0.4])[kind]
    phase = rng.uniform(0, 2 * np.pi, n)
    axes = []
    for shift, gain in ((0.0, 1.0), (0.9, 0.6), (1.7, 0.4)):
        wave = np.sin(2 * np.pi * rate[:, None] * t + phase[:, None] + shift)
        wave = gain * size[:, None] * wave + drift[:, None] * gain
        axes.append(wave + rng.normal(0, 0.35, wave.shape))
    return np.stack(axes, axis=-1).astype("float32"), kind.astype("int32")


x_train, y_train = make_recordings(2500)
x_test, y_test = make_recordings(600)
mean = x_train.mean(axis=(0, 1))
std = x_train.std(axis=(0, 1))
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std

model = keras.Sequential(
    [
        keras.Input((STEPS, 3)),
        keras.layers.Conv1D(16, 5, activation="relu", name="conv1"),
        keras.layers.Conv1D(16, 5, activation="relu", name="conv2"),
        keras.layers.MaxPooling1D(4, name="pool"),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu", name="dense1"),
        keras.layers.Dense(len(ACTIVITIES), activation="softmax", name="activity"),
    ]
)

opt = keras.optimizers.Adam(learning_rate=0.001)
model.compile(
    optimizer=opt,
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x_train,
    y_train,
    validation_split=0.1,
    epochs=10,
    batch_size=32,
    verbose=0,
)

probs = model.predict(x_test, verbose=0)
guess = probs.argmax(axis=1)
for i, name in enumerate(ACTIVITIES):
    print(name, int(np.sum(guess == i)))
print("SCORE", float(np.mean(guess == y_test)))
