"""Masks of attention the wrong way round, and softmaxes over one number: told with their line; others are not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line, found_in, known_in

CAPTURE = ("gradient", "operation")

RANDOM = np.random.default_rng(0)
LENGTHS = RANDOM.integers(3, 9, 256)
TOKENS = np.where(np.arange(10) < LENGTHS[:, None], RANDOM.integers(1, 30, (256, 10)), 0).astype(np.int32)
LABELS = RANDOM.integers(0, 3, 256)


def is_padding(tokens):
    return tf.equal(tokens, 0)  # is_padding


def is_word(tokens):
    return tf.not_equal(tokens, 0)  # is_word


def is_positive(tokens):
    return tokens > 0  # is_positive


class ByHand(layers.Layer):
    """Attention of the first place; ``hide`` puts the mask on its scores."""

    def __init__(self, hide):
        super().__init__()
        self.hide = hide

    def call(self, x, tokens):
        scores = tf.einsum("nd,ntd->nt", x[:, 0], x)
        return tf.einsum("nt,ntd->nd", tf.nn.softmax(self.hide(scores, tokens)), x)


def of_keras(mask, **options):
    def attend(x, tokens):
        seen = layers.Lambda(lambda t: mask(t)[:, None, :])(tokens)
        return layers.Flatten()(layers.MultiHeadAttention(2, 4, **options)(x, x, attention_mask=seen))

    return attend


def over_time(given):
    x, tokens = given
    hide = tf.cast(tf.not_equal(tokens, 0), tf.float32)[..., None]  # over_time
    return tf.einsum("nth,ntd->nd", tf.nn.softmax(x[..., :2] - 1e9 * hide, axis=1), x)


class Weighed(layers.Layer):
    """Places weighed by one score each; over ``axis``."""

    def __init__(self, axis):
        super().__init__()
        self.axis, self.score = axis, layers.Dense(1)

    def call(self, x, tokens):
        weights = tf.nn.softmax(self.score(x), axis=self.axis)  # Weighed
        return tf.reduce_sum(weights * x, axis=1)


def by_layers(x, tokens):
    weights = layers.Dense(1, activation="softmax", name="weights")(x)
    return layers.Flatten()(layers.Dot(axes=1)([layers.Dropout(0.1)(weights), x]))


def to_float(truth):
    return tf.cast(truth, tf.float32)


INVERTED = {
    "Keras": (of_keras(is_padding), "is_padding"),
    "Keras with dropout": (of_keras(is_padding, dropout=0.1), "is_padding"),
    "Keras, of a negation": (of_keras(lambda t: tf.logical_not(is_word(t))), "is_word"),
    "Keras, with another mask": (
        of_keras(lambda t: tf.logical_and(is_padding(t), tf.range(10)[None, :] < 8)),
        "is_padding",
    ),
    "chosen": (ByHand(lambda s, t: tf.where(is_padding(t), s, -1e9)), "is_padding"),
    "chosen the other way": (ByHand(lambda s, t: tf.where(is_word(t), -1e9 * tf.ones_like(s), s)), "is_word"),
    "added": (ByHand(lambda s, t: s + to_float(is_word(t)) * -1e9), "is_word"),
    "subtracted, of another axis": (
        lambda x, tokens: layers.Lambda(over_time)([x, tokens]),
        "over_time",
    ),
    "subtracted": (ByHand(lambda s, t: s - to_float(is_word(t)) * 1e9), "is_word"),
    "added, of what is above 0": (ByHand(lambda s, t: s + -1e9 * to_float(is_positive(t))), "is_positive"),
    "added, less than 1": (ByHand(lambda s, t: s + (1.0 - to_float(is_padding(t))) * -1e9), "is_padding"),
}
UPRIGHT = {
    "Keras": of_keras(is_word),
    "Keras, by itself": lambda x, tokens: layers.Flatten()(layers.MultiHeadAttention(2, 4)(x, x)),
    "causal": lambda x, tokens: layers.Flatten()(layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)),
    "chosen": ByHand(lambda s, t: tf.where(is_positive(t), s, -1e9)),
    "chosen the other way": ByHand(lambda s, t: tf.where(is_padding(t), -1e9, s)),
    "added": ByHand(lambda s, t: s + to_float(is_padding(t)) * -1e9),
    "added, less than 1": ByHand(lambda s, t: s + (1.0 - to_float(is_word(t))) * -1e9),
    "subtracted": ByHand(lambda s, t: s - to_float(is_padding(t)) * 1e9),
    "a bias": ByHand(lambda s, t: s + to_float(is_word(t)) * -1.0),
    "by length": ByHand(lambda s, t: tf.where(tf.sequence_mask(tf.math.count_nonzero(t, axis=1), 10), s, -1e9)),
}


def fit(watch, attend, n_epochs=1, **options):
    keras.utils.set_random_seed(0)
    tokens = keras.Input((10,), dtype="int32")
    x = layers.Embedding(30, 8, mask_zero=False, name="words")(tokens)
    model = keras.Model(tokens, layers.Dense(3, name="out")(attend(x, tokens)))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(1e-4), loss, **options)
    watched = watch(model)
    model.fit(TOKENS, LABELS, batch_size=16, epochs=n_epochs, verbose=0)
    return watched


@pytest.mark.parametrize(("attend", "marker"), INVERTED.values(), ids=INVERTED)
def test_the_comparison_is_named(watch, read, attend, marker):
    (found,) = found_in(read(fit(watch, attend)))
    assert found["source"]["line"] == find_line(marker, sys.modules[__name__])


@pytest.mark.parametrize("attend", UPRIGHT.values(), ids=UPRIGHT)
def test_other_masks_are_not(watch, read, attend):
    assert found_in(read(fit(watch, attend))) == []


def test_a_softmax_over_an_axis_of_one_is_told_with_its_line(watch, read):
    recording = read(fit(watch, Weighed(axis=-1), 8))
    (found,) = found_in(recording)
    assert found["type"] == "Softmax"
    (finding,) = diagnose(recording).findings()
    assert (finding.kind, finding.first_step) == ("zero_gradient", 0)
    line = find_line("Weighed", sys.modules[__name__])
    assert finding.hypotheses[0].cause == f"A softmax runs over an axis of length one (test_masks.py:{line})"
    assert found_in(read(fit(watch, Weighed(axis=1)))) == []


@pytest.mark.filterwarnings("ignore:You are using a softmax over axis")
def test_a_softmax_over_an_axis_of_one_in_a_layer_of_keras(watch, read):
    (found,) = found_in(read(fit(watch, by_layers)))
    assert (found["type"], found["layer"], found["source"]) == ("Softmax", "weights", None)


@pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["fit", "jit"])
def test_it_is_told_while_little_is_learned(watch, read, options):
    (found,) = [
        f for f in diagnose(read(fit(watch, INVERTED["Keras"][0], 8, **options))).findings() if "mask" in f.title
    ]
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.source["line"] == find_line("is_padding", sys.modules[__name__])
    assert "wrong way round" in found.hypotheses[0].cause


def test_a_mask_within_a_class(watch, read):
    (found,) = found_in(read(fit(watch, ByHand(lambda s, t: tf.where(t == 0, s, -1e4)))))
    assert found["type"] == "Equal"


N_STEPS = 10
ONES = np.ones((N_STEPS, N_STEPS), np.float32)


def causal(t):
    return tf.linalg.band_part(tf.ones((t, t)), -1, 0)


class Among(layers.Layer):
    """Attention of all places among each other; ``hide`` puts a mask on its scores."""

    def __init__(self, hide):
        super().__init__()
        self.hide = hide

    def call(self, x, tokens):
        scores = self.hide(tf.einsum("nsd,ntd->nst", x, x), tf.shape(tokens)[1])
        return tf.einsum("nst,ntd->nd", tf.nn.softmax(scores), x)


def among_keras(mask, **options):
    """Attention of Keras' with a mask made of the number of places."""

    def attend(x, tokens):
        seen = layers.Lambda(lambda t: mask(tf.shape(t)[1])[None], output_shape=(None, None))(tokens)
        return layers.Flatten()(layers.MultiHeadAttention(2, 4, **options)(x, x, attention_mask=seen))

    return attend


def apart(x, tokens):
    """What was before, and what comes later, each by an attention of its own."""
    before = Among(lambda s, t: tf.where(tf.range(t)[:, None] > tf.range(t)[None, :], s, -1e9))
    later = Among(lambda s, t: tf.where(tf.range(t)[:, None] < tf.range(t)[None, :], s, -1e9))
    return layers.Concatenate()([before(x, tokens), later(x, tokens)])


AHEAD = {
    "Keras, a band": among_keras(lambda t: 1 - causal(t)),  # of_band
    "Keras, truths": among_keras(lambda t: tf.range(t)[:, None] < tf.range(t)),
    "Keras, of a layer": among_keras(lambda t: keras.ops.triu(tf.ones((t, t)), 1)),
    "Keras, a constant": among_keras(lambda _: tf.constant(np.triu(ONES, 1))),
    "chosen": Among(lambda s, t: tf.where(causal(t) == 0, s, -1e9)),
    "chosen, slices of a constant": Among(lambda s, t: tf.where(tf.constant(np.tril(ONES) > 0)[:t, :t], -1e9, s)),
    "added": Among(lambda s, t: s + causal(t) * -1e9),
    "added, of a constant": Among(lambda s, _: s + tf.constant(np.tril(ONES) * -1e9)),
    "added, less than 1, and another": Among(
        lambda s, t: s - 1e9 * (1 - (1 - causal(t)) * tf.cast(tf.reduce_sum(s, -1, keepdims=True) != 7.0, tf.float32))
    ),
    "turned": Among(lambda s, t: tf.where(tf.transpose(tf.range(t)[:, None] > tf.range(t)), s, -1e9)),
}
NOT_AHEAD = {
    "causal": among_keras(causal),
    "Keras' own": lambda x, tokens: layers.Flatten()(layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)),
    "itself and what is later": Among(lambda s, t: tf.where(tf.range(t)[:, None] <= tf.range(t), s, -1e9)),
    "itself and what is later, a band": among_keras(lambda t: tf.linalg.band_part(tf.ones((t, t)), 0, -1)),
    "all but the first": Among(lambda s, t: tf.where(tf.range(t)[None, :] > 0, s, -1e9)),
    "added": Among(lambda s, t: s + (1 - causal(t)) * -1e9),
    "all but itself": Among(lambda s, t: s - 1e9 * tf.eye(t)),
    "both ways": apart,
    "a bias": Among(lambda s, t: s - causal(t)),
    "of scores that are turned": Among(
        lambda s, t: tf.transpose(tf.where(tf.range(t)[:, None] < tf.range(t), s, -1e9), (0, 2, 1))
    ),
}


@pytest.mark.parametrize("attend", AHEAD.values(), ids=AHEAD)
def test_a_causal_mask_the_wrong_way_round(watch, read, attend):
    (found,) = found_in(read(fit(watch, attend)))
    assert (found["type"], found["ahead"]) == ("Mask", True)
    assert found["source"]["file"].endswith("test_masks.py")


def test_the_line_of_a_causal_mask(watch, read):
    (found,) = found_in(read(fit(watch, AHEAD["Keras, a band"])))
    assert found["source"]["line"] == find_line("of_band", sys.modules[__name__])


@pytest.mark.parametrize("name", NOT_AHEAD)
def test_a_mask_of_itself_and_what_is_later(watch, read, name):
    assert len(known_in(read(fit(watch, NOT_AHEAD[name])), "onward")) == name.startswith("itself")


@pytest.mark.parametrize("attend", NOT_AHEAD.values(), ids=NOT_AHEAD)
def test_what_is_seen_is_meant(watch, read, attend):
    assert found_in(read(fit(watch, attend))) == []
