"""Trains a 1-D convolutional classifier of dance steps from motion capture windows."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

STEPS = ["waltz", "tango", "rumba", "samba", "jive", "polka", "slowfox", "quickstep"]
FRAMES, JOINTS = 48, 12
EPOCHS, START, DECAY = 18, 0.01, 0.88


def make_windows(n, rng, figures):
    label = rng.integers(0, len(STEPS), n)
    t = np.linspace(0, 1, FRAMES)[None, :, None]
    tempo = rng.uniform(0.9, 1.1, (n, 1, 1))
    begin = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    beats = np.array([3, 4, 4, 4, 3, 3, 4, 3])[label][:, None, None]
    amp, phase, second = (f[label][:, None, :] for f in figures)
    angle = 2 * np.pi * beats * tempo * t + begin
    motion = amp * np.sin(angle + phase) + second * np.sin(2 * angle + 2 * phase)
    motion = motion + rng.normal(0, 1.2, (n, 1, JOINTS)) + rng.normal(0, 1.0, motion.shape)
    return motion.astype("float32"), label


rng = np.random.default_rng(SEED)
figures = (
    rng.uniform(0.5, 1.0, (1, JOINTS)) + rng.normal(0, 0.10, (len(STEPS), JOINTS)),
    rng.uniform(-2.0, 2.0, (1, JOINTS)) + rng.normal(0, 0.35, (len(STEPS), JOINTS)),
    rng.normal(0, 0.25, (len(STEPS), JOINTS)),
)
x, y = make_windows(4000, rng, figures)
x_test, y_test = make_windows(1500, rng, figures)
mean, std = x.mean(axis=(0, 1)), x.std(axis=(0, 1))
x, x_test = (x - mean) / std, (x_test - mean) / std


def rate(epoch, lr):
    return lr * DECAY**epoch


model = keras.Sequential(
    [
        keras.Input((FRAMES, JOINTS)),
        layers.Conv1D(32, 7, activation="relu"),
        layers.Conv1D(48, 7, strides=2, activation="relu"),
        layers.Conv1D(48, 5, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(len(STEPS)),
    ]
)
model.compile(
    keras.optimizers.SGD(START, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
gradwatch.watch(model)

model.fit(
    x,
    y,
    batch_size=64,
    epochs=EPOCHS,
    verbose=2,
    callbacks=[keras.callbacks.LearningRateScheduler(rate)],
)

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.4f}, chance {1 / len(STEPS):.3f}")
print(f"SCORE accuracy {accuracy:.4f}")
