"""A model of the next token that sees it is told; one that does not, and one of other targets, is not."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from gradwatch.protocol import NEXT_PLACE
from tests.hook.diagnosis import diagnose
from tests.hook.test_leakage import leaked

CAPTURE = ("gradient", "input", "operation")

N_TOKENS, TIME = 9, 8
layers = keras.layers
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
