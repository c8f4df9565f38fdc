"""Reshapes that give a tensor's axes another order: told with their layer, line and shapes; other reshapes are not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.health.catalogue.play import play, script
from tests.hook.diagnosis import diagnose, find_line, found_in

CAPTURE = ("gradient", "operation")

X = np.random.default_rng(0).normal(size=(256, 6, 20)).astype(np.float32)
Y = np.random.default_rng(1).normal(size=(256, 1)).astype(np.float32)


def turned(x):
    return tf.reshape(x, (-1, 20, 6))  # turned


def turned_by_shape(x):
    return tf.reshape(x, (tf.shape(x)[0], 20, 6))  # turned_by_shape


def turned_image(x):
    image = tf.reshape(x, (-1, 4, 5, 6))
    turned = tf.reshape(image, (-1, 6, 4, 5))  # turned_image
    return tf.reshape(turned, (-1, 20, 6))


def folded(x):
    return tf.reshape(x, (-1, 12, 10))


def flat_between(x):
    return tf.reshape(tf.reshape(x, (-1, 120)), (-1, 20, 6))


def of_a_number(x):
    return x + tf.reshape(tf.reduce_mean(x), (1, 1, 1))


def with_an_axis(x):
    return tf.reshape(tf.reshape(x, (-1, 6, 1, 20)), (-1, 6, 20))


def into_the_batch(x):
    parts = tf.reshape(x, (-1, 6, 4, 5))
    mixed = tf.reshape(parts, (-1, 6, 5))  # into_the_batch
    return tf.reshape(mixed, (-1, 20, 6))


def out_of_the_batch(x):
    rows = tf.reshape(tf.transpose(tf.reshape(x, (-1, 6, 4, 5)), (0, 2, 1, 3)), (-1, 6, 5))
    mixed = tf.reshape(rows, (-1, 6, 4, 5))  # out_of_the_batch
    return tf.reshape(mixed, (-1, 6, 20))


def into_the_batch_moved_first(x):
    rows = tf.reshape(tf.transpose(tf.reshape(x, (-1, 6, 4, 5)), (0, 2, 1, 3)), (-1, 6, 5))
    back = tf.transpose(tf.reshape(tf.tanh(rows), (-1, 4, 6, 5)), (0, 2, 1, 3))
    return tf.reshape(back, (-1, 6, 20))


def foremost_into_the_batch(x):
    rows = tf.reshape(tf.reshape(x, (-1, 6, 4, 5)), (-1, 4, 5))
    return tf.reshape(tf.tanh(rows), (-1, 6, 20))


def alike(x):
    """Of two axes of one length either may have become the batch's."""
    parts = tf.reshape(tf.pad(x[:, :4], ((0, 0), (0, 0), (0, 0))), (-1, 4, 4, 5))
    return tf.pad(tf.reshape(tf.reshape(parts, (-1, 4, 5)), (-1, 4, 20)), ((0, 0), (0, 2), (0, 0)))


TURNS = [turned, turned_by_shape, turned_image]
PLAIN = {
    "permuted": lambda: layers.Permute((2, 1)),
    "folded": lambda: layers.Lambda(folded),
    "flat between": lambda: layers.Lambda(flat_between),
    "moved before it becomes the batch's": lambda: layers.Lambda(into_the_batch_moved_first),
    "the foremost becomes the batch's": lambda: layers.Lambda(foremost_into_the_batch),
    "axes of one length": lambda: layers.Lambda(alike),
    "a number": lambda: layers.Lambda(of_a_number),
    "an axis of one": lambda: layers.Lambda(with_an_axis),
    "norm of groups": lambda: layers.GroupNormalization(groups=5),
    "separable": lambda: layers.SeparableConv1D(6, 3, padding="same"),
    "recurrent": lambda: layers.LSTM(6, return_sequences=True),
}


def fit(watch, between, **options):
    keras.utils.set_random_seed(0)
    inputs = keras.Input((6, 20))
    hidden = layers.Conv1D(4, 3, name="conv")(between(inputs))
    model = keras.Model(inputs, layers.Dense(1, name="out")(layers.Flatten()(hidden)))
    model.compile(optimizer=keras.optimizers.SGD(1e-4), loss="mse", **options)
    watched = watch(model)
    model.fit(X, Y, batch_size=16, epochs=8, verbose=0)
    return watched


def reshapes_in(recording):
    return found_in(recording, "reshapes")


@pytest.mark.parametrize("turn", TURNS)
def test_the_line_is_named(watch, read, turn):
    (found,) = reshapes_in(read(fit(watch, layers.Lambda(turn))))
    assert found["source"]["line"] == find_line(turn.__name__, sys.modules[__name__])
    assert found["output_shape"] in ([-1, 20, 6], [-1, 6, 4, 5])


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"run_eagerly": True}], ids=["fit", "jit", "eagerly"])
def test_a_layer_that_reshapes_is_told(watch, read, options):
    recording = read(fit(watch, layers.Reshape((20, 6)), **options))
    told = [one for one in diagnose(recording).findings() if "exchanges no axes" in one.title]
    (found,) = reshapes_in(recording)
    assert (found["input_shape"], found["output_shape"]) == ([-1, 6, 20], [-1, 20, 6])
    (finding,) = told
    assert (finding.kind, finding.severity, finding.first_step) == ("loss_plateau", "warning", 0)
    assert "makes [n, 20, 6] of [n, 6, 20]" in finding.title
    assert "layers.Permute((2, 1))" in finding.hypotheses[0].code


@pytest.mark.parametrize("between", PLAIN.values(), ids=PLAIN)
def test_other_reshapes_are_not(watch, read, between):
    assert reshapes_in(read(fit(watch, between()))) == []


def test_attention_that_swaps_its_heads_by_itself(watch, read):
    attention = layers.MultiHeadAttention(2, 4)
    assert reshapes_in(read(fit(watch, lambda x: attention(x, x)))) == []


@pytest.mark.parametrize(
    ("turn", "shapes", "words", "code"),
    [
        (into_the_batch, ([-1, 6, 4, 5], [-1, 6, 5]), "missing before", "tf.transpose(x, (0, 2, 1, 3))"),
        (out_of_the_batch, ([-1, 6, 5], [-1, 6, 4, 5]), "missing after", "tf.reshape(x, (-1, 4, 6, 5))"),
    ],
)
def test_axes_that_go_into_the_batch_and_out_of_it(watch, read, turn, shapes, words, code):
    recording = read(fit(watch, layers.Lambda(turn)))
    (found,) = reshapes_in(recording)
    assert (found["input_shape"], found["output_shape"]) == shapes
    assert found["source"]["line"] == find_line(turn.__name__, sys.modules[__name__])
    (told,) = (one for one in diagnose(recording).findings() if "mixes axes" in one.title)
    assert words in told.hypotheses[0].cause
    assert code in told.hypotheses[0].code


IN_THE_STEP = """
import gradwatch, keras, numpy as np, tensorflow as tf

random = np.random.default_rng(0)
x, y = random.normal(size=(256, 6, 20)).astype("float32"), random.normal(size=(256, 1)).astype("float32")
layers = [keras.Input((20, 6)), keras.layers.Conv1D(4, 3), keras.layers.Flatten(), keras.layers.Dense(1)]
model = keras.Sequential(layers)
optimizer = keras.optimizers.SGD(1e-4)
gradwatch.watch(model)

def prepared(given):
    return tf.reshape(given, (-1, 20, 6))

@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(prepared(inputs)) - targets) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

for inputs, targets in tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat(8):
    step(inputs, targets)
"""


def test_a_line_that_the_graph_and_the_arrays_tell_of_is_told_once(tmp_path):
    path = tmp_path / "step.py"
    path.write_text(IN_THE_STEP)
    titles = [one.title for one in play(script(path)).findings if "reshape" in one.title.lower()]
    assert len(titles) == 1
    assert titles[0].startswith("A reshape (step.py:12) makes")
