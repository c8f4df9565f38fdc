"""Online fault classifier for centrifugal pumps: one vibration summary arrives at a time."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

CLASSES = ["healthy", "imbalance", "bearing", "cavitation"]
BANDS = 32

profiles = rng.normal(0.0, 1.0, size=(len(CLASSES), BANDS))
profiles = (profiles + np.roll(profiles, 1, axis=1) + np.roll(profiles, -1, axis=1)) / 2.0


def stream():
    state = 0
    while True:
        if rng.random() < 0.5:
            state = int(rng.integers(len(CLASSES)))
        gain = rng.lognormal(0.0, 0.25)
        bands = gain * profiles[state] + rng.normal(0, 0.7, BANDS)
        yield bands.astype("float32"), state


def dense_block(x, units):
    x = layers.Dense(units, use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.Activation("relu")(x)


inputs = keras.Input((BANDS,))
z = dense_block(inputs, 96)
z = dense_block(z, 64)
z = dense_block(z, 32)
outputs = layers.Dense(len(CLASSES), activation="softmax")(z)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

source = stream()
holdout = [next(source) for _ in range(600)]
x_eval = np.stack([b for b, _ in holdout])
y_eval = np.array([s for _, s in holdout])

gradwatch.watch(model)

running = None
for step in range(800):
    bands, state = next(source)
    loss, _ = model.train_on_batch(bands[None, :], np.array([state]))
    running = float(loss) if running is None else 0.98 * running + 0.02 * float(loss)
    if step % 100 == 99:
        print(f"sample {step + 1:4d}  running loss {running:.4f}")
        model.reset_metrics()

eval_loss, eval_acc = model.evaluate(x_eval, y_eval, batch_size=200, verbose=0)
print(f"holdout loss {eval_loss:.4f}  accuracy {eval_acc:.4f}")
