"""Train a GRU that routes support tickets to the right team."""

import os

import keras
import numpy as np
from keras import layers

import gradwatch

SEED = int(os.environ.get("SEED", "0"))
keras.utils.set_random_seed(SEED)

VOCAB = 400
LENGTH = 24
TEAMS = 6
BATCH = 64
EPOCHS = 16


def make_tickets(n, rng):
    world = np.random.default_rng(5)
    topics = world.dirichlet(np.full(VOCAB - 1, 0.08), TEAMS)
    common = world.dirichlet(np.full(VOCAB - 1, 0.5))
    team = rng.integers(0, TEAMS, n)
    tokens = np.zeros((n, LENGTH), "int32")
    for i in range(n):
        length = rng.integers(8, LENGTH + 1)
        mix = 0.3 * topics[team[i]] + 0.7 * common
        tokens[i, :length] = 1 + rng.choice(VOCAB - 1, length, p=mix)
    return tokens, team.astype("int32")


def build_model():
    inputs = keras.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(VOCAB, 32, mask_zero=True, name="words")(inputs)
    x = layers.GRU(32, name="reader")(x)
    x = layers.Dropout(0.2)(x)
    outputs = layers.Dense(TEAMS, activation="softmax", name="team")(x)
    return keras.Model(inputs, outputs)


def main():
    rng = np.random.default_rng(SEED + 31)
    x_train, y_train = make_tickets(3200, rng)
    x_test, y_test = make_tickets(800, rng)

    steps = EPOCHS * (len(x_train) // BATCH)
    schedule = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=3e-3,
        decay_steps=EPOCHS,
    )
    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    gradwatch.watch(model)
    print("training for %d steps" % steps)
    model.fit(
        x_train,
        y_train,
        batch_size=BATCH,
        epochs=EPOCHS,
        validation_data=(x_test, y_test),
        verbose=2,
    )
    _, acc = model.evaluate(x_test, y_test, verbose=0)
    print("SCORE accuracy %.4f" % acc)


if __name__ == "__main__":
    main()
