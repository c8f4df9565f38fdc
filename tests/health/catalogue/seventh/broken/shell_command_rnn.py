"""Which tool started a session? The first words of a shell log decide."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

VOCAB = 60
STEPS = 20
TOOLS = 4


def make_sessions(n):
    """The launcher shows up among the first three tokens, the rest is everyday noise."""
    tool = rng.integers(0, TOOLS, n)
    tokens = rng.integers(TOOLS * 3, VOCAB, (n, STEPS))
    for i in range(n):
        alias = rng.integers(0, 3, 3)
        tokens[i, :3] = tool[i] * 3 + alias
    return tokens.astype("int32"), tool.astype("int32")


x_train, y_train = make_sessions(2560)
x_test, y_test = make_sessions(512)

model = keras.Sequential(
    [
        keras.Input((STEPS,), dtype="int32"),
        layers.Embedding(VOCAB, 24),
        layers.SimpleRNN(48, activation="sigmoid", name="reader"),
        layers.Dense(TOOLS, activation="softmax", name="tool"),
    ]
)
model.compile(
    optimizer=keras.optimizers.RMSprop(learning_rate=4e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.summary()

gradwatch.watch(model)
model.fit(
    x_train,
    y_train,
    batch_size=64,
    epochs=12,
    validation_data=(x_test, y_test),
    verbose=2,
)

loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.4f} accuracy {acc:.3f} (guessing gives {1 / TOOLS:.2f})")
for row in x_test[:3]:
    print(row[:6], "->", np.round(model.predict(row[None], verbose=0)[0], 3))
