"""Real trainings that break at a known line in a known step: the verdict names the operation, the line and the step."""

import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from tests.hook.diagnosis import diagnose, find_line

SICK_STEP, N_STEPS, BATCH, WIDTH = 3, 6, 8, 5
THIS = sys.modules[__name__]
LOOP = "While"
Y = np.arange(BATCH * N_STEPS) % 3
X = np.random.default_rng(0).normal(size=(BATCH * N_STEPS, WIDTH)).astype(np.float32)
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def spoiled(value, rows=2):
    """The data with some rows of the sick step's batch set to a value."""
    x = X.copy()
    x[SICK_STEP * BATCH : SICK_STEP * BATCH + rows] = value
    return x


class Length(layers.Layer):
    def call(self, x):
        return tf.norm(x, axis=-1, keepdims=True)  # norm of zeros


class Range(layers.Layer):
    def call(self, x):
        width = tf.reduce_max(x, axis=1, keepdims=True) - tf.reduce_min(x, axis=1, keepdims=True)
        return x / width  # constant row


class Positive(layers.Layer):
    def call(self, x):
        amount = tf.nn.relu(x + 50.0)
        return tf.where(amount > 0, tf.math.log(amount), 0.0)  # mask after the log


class Growth(layers.Layer):
    def call(self, x):
        return tf.exp(x)  # too large


def model_with(middle, start="ones"):
    inputs = keras.Input((WIDTH,))
    hidden = layers.Dense(4, use_bias=False, name="hidden", kernel_initializer=start)(inputs)
    found = middle(hidden)
    return keras.Model(inputs, layers.Dense(3, name="logits")(found))


def fit(model, x, **options):
    model.compile("sgd", cross_entropy, **{"jit_compile": False, **options})
    model.fit(x, Y, batch_size=BATCH, epochs=1, shuffle=False, verbose=0)


WAYS = ("graph", "jit", "eager")


def loop(model, optimizer, step_fn, x, *, watched=None, way="graph"):
    """A custom loop: `step_fn` gives the loss of a batch."""

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = step_fn(x, y)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        if watched is not None:
            watched.log(loss=loss)
        return loss

    run = step if way == "eager" else tf.function(step, jit_compile=way == "jit")
    for i in range(0, len(x), BATCH):
        run(tf.constant(x[i : i + BATCH]), tf.constant(Y[i : i + BATCH]))


def assert_found(recording, kind, operation, marker, *, step=SICK_STEP, layer=None):
    findings = diagnose(recording).findings()
    told = [finding.title for finding in findings]
    assert len(findings) == 1, told
    (found,) = findings
    assert (found.kind, found.first_step) == (kind, step), told
    assert found.operation is not None, told
    assert found.operation["type"] == operation, told
    assert found.source is not None
    assert (found.source["file"], found.source["line"]) == (__file__, find_line(marker, THIS)), found.source
    assert layer is None or found.layer == layer, found.layer
    assert f"test_operation_verdicts.py:{found.source['line']}" in found.title
    return found


@pytest.mark.parametrize(
    "options", [{}, {"jit_compile": True}, {"steps_per_execution": 3}, {"run_eagerly": True}], ids=str
)
def test_norm_of_zeros_in_a_layer(watch, read, options):
    model = model_with(Length(name="unit"))
    watched = watch(model)
    fit(model, spoiled(0.0), **options)
    found = assert_found(read(watched), "singular_gradient", "SqrtGrad", "norm of zeros", layer="unit")
    assert "square root of exactly 0 in `unit`" in found.title
    assert (found.evidence["n_singular"], found.evidence["n_inputs"]) == (2, BATCH)
    assert "tf.reduce_sum(tf.square(x), axis=-1, keepdims=True) + 1e-12" in found.hypotheses[0].code
    assert found.evidence["forward_operation"].startswith("Sqrt ")


@pytest.mark.parametrize("way", WAYS)
def test_masked_columns_in_a_loop(watch, read, way):
    model, optimizer = model_with(layers.Activation("linear")), keras.optimizers.SGD(0.01)
    watched = watch(model)

    def distance(x, y):
        mask = tf.cast(tf.reduce_any(x != 0.0, axis=1, keepdims=True), tf.float32)
        return tf.reduce_mean(tf.norm(model(x) * mask, axis=1))  # masked to zero

    loop(model, optimizer, distance, spoiled(0.0), watched=watched, way=way)
    found = assert_found(read(watched), "singular_gradient", "SqrtGrad", "masked to zero")
    assert found.evidence["n_singular"] == 2


@pytest.mark.parametrize("way", WAYS)
def test_direction_of_a_zero_vector(watch, read, way):
    model, optimizer = model_with(layers.Activation("linear")), keras.optimizers.SGD(0.01)
    watched = watch(model)

    def turn(x, y):
        still = tf.cast(tf.reduce_any(x != 0.0, axis=1, keepdims=True), tf.float32)
        found = model(x) * still
        angle = tf.math.atan2(found[:, 1], found[:, 0])  # where nothing moves
        return tf.reduce_mean(1.0 - tf.cos(angle - tf.cast(y, tf.float32)))

    loop(model, optimizer, turn, spoiled(0.0), watched=watched, way=way)
    kind = "Atan2Grad" if way == "eager" else "RealDiv"
    found = assert_found(read(watched), "singular_gradient", kind, "where nothing moves")
    assert "arc tangent atan2 of exactly (0, 0)" in found.title
    assert found.hypotheses[0].cause.startswith("The direction of a vector that is exactly zero")


@pytest.mark.parametrize("way", ["graph", "eager"])
def test_distance_of_a_point_from_itself_in_hyperbolic_space(watch, read, way):
    model, optimizer = model_with(layers.Activation("linear")), keras.optimizers.SGD(0.01)
    watched = watch(model)

    def distance(x, y):
        gap = tf.reduce_sum(tf.square(model(x) - model(x[::-1])), axis=1)
        return tf.reduce_mean(tf.math.acosh(1.0 + gap))  # beside itself

    loop(model, optimizer, distance, spoiled(0.0, rows=BATCH), watched=watched, way=way)
    kind = "AcoshGrad" if way == "eager" else "RealDiv"
    found = assert_found(read(watched), "singular_gradient", kind, "beside itself")
    assert "acosh at or below 1" in found.title
    assert "tf.maximum(1.0 + gap, 1 + 1e-6)" in found.hypotheses[0].code


@pytest.mark.parametrize("way", WAYS)
def test_cross_entropy_by_hand(watch, read, way):
    model, optimizer = model_with(layers.Activation("linear")), keras.optimizers.SGD(0.01)
    watched = watch(model)

    def loss(x, y):
        p = tf.nn.softmax(model(x))
        return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(y, 3) * tf.math.log(p), axis=1))  # log of zero

    loop(model, optimizer, loss, spoiled(1e4), watched=watched, way=way)
    found = assert_found(read(watched), "nonfinite_loss", "Log", "log of zero")
    assert "logarithm of exactly 0" in found.title


@pytest.mark.parametrize("is_eager", [False, True], ids=["graph", "eager"])
def test_division_by_zero_in_the_forward_pass(watch, read, is_eager):
    model = model_with(Range(name="scaled"), keras.initializers.RandomNormal(seed=1))
    watched = watch(model)
    fit(model, spoiled(0.0), run_eagerly=is_eager)
    found = assert_found(read(watched), "nonfinite_activation", "RealDiv", "constant row", layer="scaled")
    assert "tf.math.divide_no_nan(x, width)" in found.hypotheses[0].code


@pytest.mark.parametrize("is_eager", [False, True], ids=["graph", "eager"])
def test_where_after_the_logarithm(watch, read, is_eager):
    model = model_with(Positive(name="positive"))
    watched = watch(model)
    fit(model, spoiled(-1e3), run_eagerly=is_eager)
    found = assert_found(read(watched), "nonfinite_gradient", "Log", "mask after the log", layer="positive")
    assert "masked after" in found.hypotheses[0].cause
    assert "tf.where(amount > 0, tf.math.log(tf.where(amount > 0, amount, 1.0)), 0.0)" in found.hypotheses[0].code


@pytest.mark.parametrize("is_eager", [False, True], ids=["graph", "eager"])
def test_exponential_that_overflows(watch, read, is_eager):
    model = model_with(Growth(name="growth"))
    watched = watch(model)
    fit(model, spoiled(100.0), run_eagerly=is_eager)
    assert_found(read(watched), "nonfinite_activation", "Exp", "too large", layer="growth")


@pytest.mark.parametrize("way", WAYS)
def test_gradient_penalty(watch, read, way):
    # Where tanh is saturated its slope is exactly 0, and with it the critic's gradient.
    hidden = layers.Dense(8, "tanh", kernel_initializer="ones")
    critic = keras.Sequential([keras.Input((WIDTH,)), hidden, layers.Dense(1)], name="critic")
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(critic)

    def loss(x, y):
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = critic(x)
        slopes = inner.gradient(score, x)
        penalty = tf.reduce_mean((tf.norm(slopes, axis=1) - 1.0) ** 2)  # penalty
        return tf.reduce_mean(score) + 10.0 * penalty

    loop(critic, optimizer, loss, spoiled(1e4), watched=watched, way=way)
    assert_found(read(watched), "singular_gradient", "SqrtGrad", "penalty")


def test_logarithm_that_becomes_steep_is_told_before_it_breaks(watch, read):
    """The logarithm of an error that training brings to nothing: its slope grows as 1 / error."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(1, name="fit")])
    optimizer = keras.optimizers.SGD(1.0)
    watched = watch(model)
    target = tf.constant(X @ np.ones((WIDTH, 1), np.float32))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.square(model(X) - target))
            loss = tf.math.log(error)  # steep
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.learning_rate.assign(0.1 * error)  # else it would jump about the minimum
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for _ in range(60):
        step()
    findings = {finding.kind: finding for finding in diagnose(read(watched)).findings()}
    found = findings["steep_gradient"]
    assert found.operation == {"type": "Log", "name": "Log"}
    assert found.source["line"] == find_line("steep", THIS)
    assert 0 < found.evidence["margin"] < found.evidence["margin_before"] / 100
    assert set(findings) <= {"steep_gradient", "exploding_gradient"}


# -- healthy trainings, and values that are infinite by design ----------------------------------------------------


def mlp():
    hidden = [layers.Dense(16, "relu"), layers.BatchNormalization(), layers.Dense(3, "softmax")]
    return keras.Sequential([keras.Input((WIDTH,)), *hidden])


def cnn():
    found = [layers.Conv1D(4, 2, activation="relu"), layers.LayerNormalization(), layers.GlobalAveragePooling1D()]
    return keras.Sequential([keras.Input((WIDTH,)), layers.Reshape((WIDTH, 1)), *found, layers.Dense(3, "softmax")])


def lstm():
    return keras.Sequential([keras.Input((WIDTH,)), layers.Reshape((WIDTH, 1)), layers.LSTM(6), layers.Dense(3)])


def transformer():
    x = keras.Input((WIDTH,))
    tokens = layers.Dense(8)(layers.Reshape((WIDTH, 1))(x))
    normal = layers.LayerNormalization()(tokens)
    tokens = tokens + layers.MultiHeadAttention(2, 4)(normal, normal, use_causal_mask=True)
    tokens = tokens + layers.Dense(8, "gelu")(layers.LayerNormalization()(tokens))
    return keras.Model(x, layers.Dense(3, "softmax")(layers.GlobalAveragePooling1D()(tokens)))


HEALTHY = {
    "MLP with batch normalisation, softmax": (mlp, "sparse_categorical_crossentropy"),
    "CNN with layer normalisation, softmax": (cnn, "sparse_categorical_crossentropy"),
    "LSTM, logits": (lstm, cross_entropy),
    "transformer, softmax": (transformer, "sparse_categorical_crossentropy"),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_training_has_no_finding(watch, read, name):
    build, loss = HEALTHY[name]
    keras.utils.set_random_seed(0)
    model = build()
    model.compile(keras.optimizers.Adam(1e-2), loss, jit_compile=False)
    watched = watch(model)
    model.fit(X, Y, batch_size=BATCH, epochs=5, verbose=0)
    recording = read(watched)
    assert recording.tables[recording.stream]["operations"], "there is something to judge"
    assert [finding.title for finding in diagnose(recording).findings()] == []


def test_minus_infinity_before_a_softmax_is_by_design(watch, read):
    model, optimizer = model_with(layers.Activation("linear"), "glorot_uniform"), keras.optimizers.SGD(0.01)
    watched = watch(model)

    def loss(x, y):
        mask = tf.math.log(tf.cast(x[:, :3] > -0.5, tf.float32) + tf.one_hot(y, 3))  # -Inf where masked
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x) + tf.stop_gradient(mask)))

    loop(model, optimizer, loss, X, watched=watched)
    recording = read(watched)
    operations = recording.tables[recording.stream]["operations"]
    place = [op["type"] for op in operations].index("Log")
    block = np.concatenate([m["operations"] for m in recording.rows[recording.stream]])
    assert (block[:, place, 0] > 0).all(), "the mask is there"
    assert diagnose(recording).findings() == []


@pytest.mark.parametrize("is_eager", [False, True], ids=["graph", "eager"])
def test_nan_that_comes_in_with_the_data_is_blamed_on_no_operation(watch, read, is_eager):
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(8, "softplus"), layers.Dense(3, "softmax")])
    watched = watch(model)
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=False, run_eagerly=is_eager)
    model.fit(spoiled(np.nan), Y, batch_size=BATCH, epochs=1, shuffle=False, verbose=0)
    (found,) = diagnose(read(watched)).findings()
    assert (found.kind, found.first_step, found.operation) == ("nonfinite_input", SICK_STEP, None)
    assert found.evidence["rows"] == [0, 1]
    assert found.evidence["columns"] == list(range(WIDTH))
    assert "The data hold NaN" in found.hypotheses[0].cause
    assert [link["what"] for link in found.evidence["chain"]][:3] == ["input", "activation", "loss"]


@pytest.mark.parametrize("jit", [False, True], ids=["plain", "jit"])
def test_nan_in_the_data_that_a_pool_turns_into_the_smallest_number_there_is(watch, read, jit):
    """What overflows behind the pool was broken before it, and the input has not come out of it."""
    inputs = keras.Input((WIDTH,))
    values = layers.Conv1D(4, 1, name="first")(layers.Reshape((WIDTH, 1))(inputs))
    pooled = layers.Flatten()(layers.MaxPooling1D(WIDTH)(values))
    middle = layers.Dense(4, kernel_initializer=keras.initializers.Constant(9.0), name="second")(pooled)
    model = keras.Model(inputs, layers.Dense(3, name="logits")(middle))
    watched = watch(model)
    fit(model, spoiled(np.nan), jit_compile=jit)
    found = diagnose(read(watched)).findings()[0]
    assert (found.kind, found.first_step) == ("nonfinite_input", SICK_STEP), found.title
    assert found.evidence["rows"] == [0, 1]
    assert "The data hold NaN" in found.hypotheses[0].cause


class Hiding(layers.Dense):
    """What a relu does that oneDNN computes in one operation with the product before it: it gives 0 for NaN."""

    def call(self, x):
        found = super().call(x)
        return tf.where(found > 0, found, 0.0)


@pytest.mark.parametrize("sick_step", [0, SICK_STEP], ids=["from the first step", "later"])
@pytest.mark.parametrize("way", ["graph", "jit", "eager"])
def test_nan_in_the_data_that_no_layer_shows(watch, read, way, sick_step):
    """Every output and the loss are finite, and the gradient is NaN times 0."""
    model = keras.Sequential([keras.Input((WIDTH,)), Hiding(8), layers.Dense(3)])
    watched = watch(model)
    x = X.copy()
    x[sick_step * BATCH + 1, 2] = np.nan
    fit(model, x, run_eagerly=way == "eager", jit_compile=way == "jit")
    recording = read(watched)
    loss = recording.scalar("loss")
    assert np.isfinite(loss[sick_step])
    found = diagnose(recording).findings()[0]
    assert (found.kind, found.first_step, found.operation) == ("nonfinite_input", sick_step, None), found.title
    assert (found.evidence["rows"], found.evidence["columns"]) == ([1], [2])
    causes = [hypothesis.cause for hypothesis in found.hypotheses]
    assert causes == ["The model masks the broken inputs too late: in or behind its first layer", "The data hold NaN"]
    assert "relu" in found.hypotheses[0].why


@pytest.mark.parametrize("way", ["graph", "jit", "eager"])
def test_infinity_in_the_data_that_the_first_layer_bounds(watch, read, way):
    """tanh of Inf is 1: every output and the loss are finite, and the gradient is Inf times 0."""
    model = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(4, activation="tanh"), layers.Dense(3)])
    optimizer = keras.optimizers.SGD(0.01)
    watched = watch(model)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = cross_entropy(y, model(x, training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    run = step if way == "eager" else tf.function(step, jit_compile=way == "jit")
    x = X.copy()
    x[SICK_STEP * BATCH + 1, 2] = np.inf
    for i in range(0, len(x), BATCH):
        run(x[i : i + BATCH], Y[i : i + BATCH])
    found = diagnose(read(watched)).findings()[0]
    assert (found.kind, found.first_step) == ("nonfinite_input", SICK_STEP), found.title
    assert (found.evidence["rows"], found.evidence["columns"]) == ([1], [2])
    causes = [hypothesis.cause for hypothesis in found.hypotheses]
    assert causes[0] == "The data hold infinite values"
    assert causes[1].startswith("A bounded function hides the infinite inputs")


def test_norm_in_a_nested_function_is_told_by_its_line(watch, read):
    model, optimizer = model_with(layers.Activation("linear")), keras.optimizers.SGD(0.01)
    watched = watch(model)

    @tf.function
    def distance(x):
        return tf.norm(x, axis=1)  # norm in a nested function

    def loss(x, y):
        mask = tf.cast(tf.reduce_any(x != 0.0, axis=1, keepdims=True), tf.float32)
        return tf.reduce_mean(distance(model(x) * mask))

    loop(model, optimizer, loss, spoiled(0.0), watched=watched)
    found = assert_found(read(watched), "singular_gradient", "PartitionedCall", "norm in a nested function")
    assert "inside a called function, square root, in its gradient" in found.title
    assert "tf.reduce_sum(tf.square(x), axis=1) + 1e-12" in found.hypotheses[0].code


class Fading(layers.Layer):
    """A cell whose state fades by a rate times what comes in: what falls far below 0 overflows."""

    def __init__(self, **options):
        super().__init__(**options)
        self.units = self.state_size = 4

    def build(self, shape):
        self.kernel = self.add_weight((shape[-1], 4), name="kernel")

    def call(self, x, states):
        fade = keras.ops.exp(-x[:, :1])  # overflow in a cell
        state = states[0] * fade + x @ self.kernel
        return state, [state]


@pytest.mark.parametrize("jit", [False, True], ids=["plain", "jit"])
def test_overflow_in_the_cell_of_a_recurrence_is_told_by_its_line(watch, read, jit):
    inputs = keras.Input((WIDTH,))
    steps = layers.Reshape((WIDTH, 1))(inputs)
    model = keras.Model(inputs, layers.Dense(3, name="logits")(layers.RNN(Fading(), name="fading")(steps)))
    watched = watch(model)
    fit(model, spoiled(-100.0), jit_compile=jit)
    found = assert_found(read(watched), "nonfinite_activation", LOOP, "overflow in a cell", layer="fading")
    assert "inside a loop, exponential" in found.title
    assert "the only one" in found.hypotheses[0].why


def test_of_several_in_a_loop_each_is_told_as_a_cause(watch, read):
    model, optimizer = model_with(layers.Activation("linear")), keras.optimizers.SGD(0.01)
    watched = watch(model)

    def turn(i, y):
        y = tf.math.log(y - 0.5)  # first in a loop
        return i + 1, tf.sqrt(y)  # second in a loop

    def loss(x, y):
        start = tf.where(tf.reduce_all(x == 0.0), 0.0, 9.0) + 0.0 * tf.reduce_sum(model(x))
        return tf.while_loop(lambda i, y: i < 1, turn, (0, start))[1] + cross_entropy(y, model(x))

    loop(model, optimizer, loss, spoiled(0.0, BATCH), watched=watched)
    (found,) = diagnose(read(watched)).findings()
    assert found.operation["type"] in (LOOP, "StatelessWhile")
    for marker, hypothesis in zip(("first in a loop", "second in a loop"), found.hypotheses, strict=False):
        assert f"test_operation_verdicts.py:{find_line(marker, THIS)}" in hypothesis.cause
    assert found.source["code"].startswith("return tf.while_loop(")
