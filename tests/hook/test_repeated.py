"""One layer in several places is told where it gives several outputs, or what is joined; other repetitions are not."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, found_in

CAPTURE = ("gradient", "activation", "input", "operation")


X = np.random.default_rng(0).normal(size=(256, 6)).astype(np.float32)
Y = np.random.default_rng(1).normal(size=(256, 3)).astype(np.float32)


def fit(watch: Any, model: Any, targets: Any, n_epochs: int = 8) -> Any:
    keras.utils.set_random_seed(0)
    model.compile(optimizer=keras.optimizers.SGD(1e-4), loss="mse")
    watched = watch(model)
    model.fit(X, targets, batch_size=16, epochs=n_epochs, verbose=0)
    return watched


def joined(heads: list[Any], **options: Any) -> Any:
    inputs = keras.Input((6,))
    hidden = layers.Dropout(0.1)(layers.Dense(8, activation="relu")(inputs))
    return keras.Model(inputs, layers.Concatenate(**options)([head(hidden) for head in heads]))


def keyed(heads: list[Any]) -> Any:
    inputs = keras.Input((6,))
    hidden = layers.Dense(8, activation="relu")(inputs)
    return keras.Model(inputs, {str(place): head(hidden) for place, head in enumerate(heads)})


def test_heads_that_are_joined(watch: Any, read: Any) -> None:
    recording = read(fit(watch, joined([layers.Dense(1, name="head")] * 3), Y))
    (found,) = found_in(recording)
    assert (found["type"], found["layer"], found["n"], found["source"]) == ("Call", "head", 3, None)
    (finding,) = diagnose(recording).findings()
    assert (finding.kind, finding.layer, finding.first_step) == ("loss_plateau", "head", 0)
    assert finding.title.startswith("head is called 3 times on the same tensor")
    assert "range(3)" in finding.hypotheses[0].code


def test_outputs_that_have_targets_of_their_own(watch: Any, read: Any) -> None:
    targets = {str(place): Y[:, place : place + 1] for place in range(2)}
    head = keras.Sequential([layers.Dense(4, activation="tanh"), layers.Dense(1, name="last")], name="head")
    (found,) = found_in(read(fit(watch, keyed([head, head]), targets)))
    assert (found["layer"].split("/")[-1], found["n"]) == ("last", 2)


def test_heads_of_their_own(watch: Any, read: Any) -> None:
    assert found_in(read(fit(watch, joined([layers.Dense(1) for _ in range(3)]), Y, 1))) == []


def test_what_a_layer_joins_itself(watch: Any, read: Any) -> None:
    """The matrix of a translation is joined of numbers that are drawn and of equal ones, a row for each sample."""
    moved = [keras.Input((6,)), layers.Reshape((2, 3, 1)), layers.RandomTranslation(0.1, 0.1, name="shift")]
    model = keras.Sequential([*moved, layers.Flatten(), layers.Dense(3)])
    model.compile("sgd", "mse")
    watched = watch(model)
    model.fit(X[:250], Y[:250], batch_size=16, verbose=0)
    assert found_in(read(watched)) == []


class Siamese(keras.Model):
    """One encoder for two inputs, and for one input that dropout makes two of; what is repeated as such is no layer."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.drop, self.head = layers.Dense(4, "tanh", name="encode"), layers.Dropout(0.5), layers.Dense(3)

    def call(self, x: Any, training: bool = False) -> Any:
        two = [self.encode(x[:, :3]), self.encode(x[:, 3:])]
        noisy = [self.encode(self.drop(x[:, :3], training=training)) for _ in range(2)]
        return self.head(tf.concat([*two, *noisy, two[0], tf.stack([x[:, 0], x[:, 0]], 1)], 1))


def test_what_is_no_repetition(watch: Any, read: Any) -> None:
    assert found_in(read(fit(watch, Siamese(), Y, 1))) == []


def test_a_layer_that_is_called_on_what_it_gave(watch: Any, read: Any) -> None:
    inputs, layer = keras.Input((6,)), layers.Dense(6, "tanh")
    first = layer(inputs)
    model = keras.Model(inputs, layers.Dense(3)(layers.Concatenate()([first, layer(first), first])))
    assert found_in(read(fit(watch, model, Y, 1))) == []
