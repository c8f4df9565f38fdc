"""A model of the next token that sees it is told; one that does not, and one of other targets, is not."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.protocol import NEXT_PLACE
from tests.hook.diagnosis import diagnose, find_line, known_in
from tests.hook.test_leakage import leaked

CAPTURE = ("gradient", "input", "operation")
pytestmark = pytest.mark.rows

N_TOKENS, TIME = 9, 8
layers = keras.layers
RANDOM = np.random.default_rng(2)
START = np.random.default_rng(0).integers(0, N_TOKENS, (320, 1))
WORDS = (START + np.arange(TIME + 1) * np.random.default_rng(1).integers(1, 4, (320, 1))) % N_TOKENS
X, Y = WORDS[:, :-1].astype(np.int32), WORDS[:, 1:].astype(np.int32)


def embedded(inputs):
    return layers.Embedding(N_TOKENS, 16)(inputs) + layers.Embedding(TIME, 16)(keras.ops.arange(TIME))


def attending(x, **options):
    return x + layers.MultiHeadAttention(2, 8, dropout=0.1)(x, x, **options)


def decoder(inputs, **options):
    """Of a sequence that an encoder has read, whose own attention is without a mask, as it may be."""
    source = layers.Embedding(N_TOKENS, 16)(inputs[1])
    memory = attending(source)
    x = attending(embedded(inputs[0]), **options)
    return x + layers.MultiHeadAttention(2, 8)(x, memory)


def triangle(*, onward):
    i, j = tf.range(TIME)[:, None], tf.range(TIME)
    return (i <= j if onward else i >= j)[None]


MODELS = {
    "attention": (lambda x: attending(embedded(x)), lambda x: attending(embedded(x), use_causal_mask=True)),
    "mask": (
        lambda x: attending(embedded(x), attention_mask=triangle(onward=True)),
        lambda x: attending(embedded(x), attention_mask=triangle(onward=False)),
    ),
    "convolution": (
        lambda x: layers.Conv1D(16, 3, padding="same")(embedded(x)),
        lambda x: layers.Conv1D(16, 3, padding="causal")(embedded(x)),
    ),
    "recurrent": (
        lambda x: layers.Bidirectional(layers.GRU(16, return_sequences=True))(embedded(x)),
        lambda x: layers.GRU(16, return_sequences=True)(embedded(x)),
    ),
    "decoder": (decoder, lambda inputs: decoder(inputs, use_causal_mask=True)),
}


def model_of(name, *, sees):
    keras.utils.set_random_seed(0)
    peeking, causal = MODELS[name]
    inputs = keras.Input((TIME,), dtype="int32")
    inputs = [inputs, keras.Input((TIME,), dtype="int32")] if name == "decoder" else inputs
    body = (peeking if sees else causal)(inputs)
    hidden = layers.Dense(32, "relu")(body)
    return keras.Model(inputs, layers.Dense(N_TOKENS)(hidden))


def fit(watch, model, x, y):
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss_of, jit_compile=False)
    watched = watch(model, budget=0)
    model.fit(x, y, batch_size=32, epochs=6, verbose=0)
    return watched


def loop(watch, model, x, y):
    optimizer = keras.optimizers.Adam(0.01)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    watched = watch(model, budget=0)

    @tf.function
    def step(words):
        with tf.GradientTape() as tape:
            loss = loss_of(words[:, 1:], model(words[:, :-1], training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for i in range(60):
        step(tf.constant(WORDS[i % 10 * 32 :][:32], tf.int32))
    return watched


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sees", [True, False], ids=["sees", "does not"])
def test_a_model_that_sees_its_next_token(watch, read, name, sees):
    x = [X, Y[:, ::-1].copy()] if name == "decoder" else X
    recording = read(fit(watch, model_of(name, sees=sees), x, Y))
    assert set(leaked(recording)) == {-float(NEXT_PLACE) if sees else 0.0}
    findings = diagnose(recording).findings()
    told = [one for one in findings if one.title.startswith("The model sees what it is to predict")]
    assert len(told) == sees
    assert all(one.hypotheses[0].cause.startswith("The causal mask") is (name == "mask") for one in told)


@pytest.mark.parametrize("sees", [True, False], ids=["sees", "does not"])
def test_a_loop_of_its_own(watch, read, sees):
    recording = read(loop(watch, model_of("attention", sees=sees), X, Y))
    assert set(leaked(recording)) == {-float(NEXT_PLACE) if sees else 0.0}


def test_who_labels_each_token_may_see_all(watch, read):
    labels = (X * 2 + np.roll(X, 1, 1)) % N_TOKENS
    recording = read(fit(watch, model_of("attention", sees=True), X, labels))
    assert set(leaked(recording)) == {0.0}


SERIES = np.sin(np.arange(TIME + 1) * RANDOM.uniform(0.4, 1.2, (320, 1)) + RANDOM.uniform(0, 6, (320, 1)))
SERIES = np.stack([SERIES, RANDOM.normal(size=SERIES.shape)], -1).astype("float32")


def per_feature(x):
    """A convolution along the features of each time."""
    h = keras.ops.reshape(x, (-1, 16, 1))
    return keras.ops.reshape(layers.Conv1D(1, 3, padding="same")(h), (-1, TIME, 16))


def summary(x):
    """What the whole sequence is like, beside each time."""
    whole = layers.GlobalAveragePooling1D()(layers.Conv1D(16, 3, padding="same")(x))
    return x + layers.RepeatVector(TIME)(whole)


SEEING = {
    "attention": attending,
    "convolution": layers.Conv1D(16, 3, padding="same"),
    "recurrent": layers.Bidirectional(layers.GRU(16, return_sequences=True)),
}
BLIND = {
    "attention": lambda x: attending(x, use_causal_mask=True),
    "convolution": layers.Conv1D(16, 3, padding="causal"),
    "recurrent": layers.GRU(16, return_sequences=True),
    "features": per_feature,
    "summary": summary,
}


def forecaster(body):
    keras.utils.set_random_seed(0)
    inputs = keras.Input((TIME, 2))
    return keras.Model(inputs, layers.Dense(2)(layers.Dense(32, "relu")(body(layers.Dense(16)(inputs)))))


def squares(model, past, following):
    return tf.reduce_mean(tf.square(model(past, training=True) - following))


def of_first(model, past, following):
    return tf.reduce_mean(tf.math.squared_difference(following[..., 0], model(past, training=True)[..., 0])[:, 3:])


def of_last(model, past, following):
    return tf.reduce_mean(tf.square(model(past, training=True) - following)[:, -1])


def of_itself(model, past, following):
    return squares(model, past, past) + 0 * tf.reduce_mean(following)


def forecast(watch, model, loss_of, n_steps=2, *, is_eager=False):
    optimizer = keras.optimizers.Adam(0.01)
    watched = watch(model, budget=0)

    def step(batch):
        with tf.GradientTape() as tape:
            past, following = batch[:, :-1], batch[:, 1:]  # following
            loss = loss_of(model, past, following)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step = step if is_eager else tf.function(step)
    for i in range(n_steps):
        step(tf.constant(SERIES[i % 10 * 32 :][:32]))
    return watched


@pytest.mark.parametrize(
    ("body", "loss_of", "is_eager"),
    [
        ("attention", squares, False),
        ("convolution", of_first, False),
        ("recurrent", squares, False),
        ("convolution", squares, True),
    ],
)
def test_a_series_that_is_cut_in_the_step(watch, read, body, loss_of, is_eager):
    (found,) = known_in(read(forecast(watch, forecaster(SEEING[body]), loss_of, is_eager=is_eager)), "peeks")
    assert found["peeks"] == {"attention": "Softmax", "convolution": "Conv2D", "recurrent": "ReverseV2"}[body]
    assert found["source"]["line"] == find_line("following", sys.modules[__name__])


@pytest.mark.parametrize(
    ("body", "loss_of"),
    [*((body, squares) for body in BLIND.values()), *((SEEING["convolution"], loss) for loss in (of_last, of_itself))],
    ids=[*BLIND, "of the last", "of itself"],
)
def test_a_series_that_is_not_seen(watch, read, body, loss_of):
    assert known_in(read(forecast(watch, forecaster(body), loss_of)), "peeks") == []


def fit_series(watch, body, x, y):
    model = forecaster(body)
    model.compile(keras.optimizers.Adam(0.01), "mse")
    watched = watch(model, budget=0)
    model.fit(x, y, batch_size=32, epochs=6, verbose=0)
    return watched


@pytest.mark.parametrize(
    ("body", "n_asked", "is_told"),
    [
        (SEEING["convolution"], 4, True),
        (SEEING["recurrent"], 6, True),
        (SEEING["convolution"], 3, False),
        (BLIND["convolution"], 4, False),
    ],
    ids=["convolution", "recurrent", "now and what comes next", "causal"],
)
def test_a_series_of_which_the_end_is_asked_for(watch, read, body, n_asked, is_told):
    """As a decoder that is taught by the times before each, laid behind what is known."""
    last = layers.Lambda(lambda x: x[:, -n_asked:])
    recording = read(fit_series(watch, lambda x: last(body(x)), SERIES[:, :-1], SERIES[:, -n_asked:]))
    assert (NEXT_PLACE in {abs(one) for one in leaked(recording)}) == is_told


def test_a_series_that_is_fed_in_two_parts(watch, read):
    recording = read(fit_series(watch, SEEING["convolution"], SERIES[:, :-1, :], SERIES[:, 1:, :]))
    assert set(leaked(recording)) == {-float(NEXT_PLACE)}


@pytest.mark.parametrize(
    ("body", "x", "y"),
    [
        (BLIND["convolution"], SERIES[:, :-1], SERIES[:, 1:]),
        (SEEING["convolution"], SERIES[:, :-1] + 0.01, SERIES[:, :-1]),  # without its noise
        (SEEING["convolution"], SERIES[:, :-1], SERIES[:, :-1]),
        (SEEING["convolution"], SERIES[:, 1:], SERIES[:, :-1]),
    ],
    ids=["causal", "noise", "itself", "what was before"],
)
def test_other_series(watch, read, body, x, y):
    assert NEXT_PLACE not in {abs(one) for one in leaked(read(fit_series(watch, body, x, y)))}
