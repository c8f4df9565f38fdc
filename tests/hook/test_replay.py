"""The operation a bad step began with, whatever its type, found by computing the step again in the graph."""

import inspect

import keras
import numpy as np
import pytest
import tensorflow as tf

import gradwatch
from gradwatch.replay import CHAIN_MAX, Copy, Node, Replay, find_origin
from gradwatch_server import messages
from tests.hook.training import dense


class Made(keras.layers.Layer):
    """A layer that goes wrong in the way it is told to, from the third step on."""

    def __init__(self, wrong, **options):
        super().__init__(**options)
        self.wrong, self.seeds = wrong, keras.random.SeedGenerator(1)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], shape[-1]), name="kernel", initializer="ones")
        self.calls = self.add_weight(shape=(), name="calls", trainable=False, initializer="zeros")

    def call(self, x):
        self.calls.assign_add(1.0)
        return self.wrong(self, x @ self.kernel, tf.cast(self.calls > 2, x.dtype))


def product_of_zero_and_infinity(layer, x, is_on):
    huge = 3e38 * (1 + is_on * tf.abs(x))  # overflows
    return x + tf.stop_gradient(tf.zeros_like(x) * huge)


def half_precision_product(layer, x, is_on):
    half = tf.cast(x, tf.float16) * tf.cast(1 + 999 * is_on, tf.float16)
    return x + tf.cast(tf.matmul(half, half, transpose_b=True), tf.float32)[:, : x.shape[-1]]


def difference_of_infinities(layer, x, is_on):
    far = tf.where(is_on * tf.ones_like(x) > 0, np.inf, x)
    return x + (far - tf.roll(far, 1, axis=0))


def behind_dropout(layer, x, is_on):
    dropped = keras.random.dropout(tf.abs(x) + 1, 0.5, seed=layer.seeds)
    return x + tf.math.log(dropped + 1 - is_on)


def in_a_loop(layer, x, is_on):
    def body(i, y):
        return i + 1, tf.math.log(y - is_on * y)

    # XLA must know how often a loop runs, to differentiate it.
    inside = tf.while_loop(lambda i, y: i < 3, body, (0, tf.abs(x) + 9), maximum_iterations=3)
    return x + inside[1]


def behind_numbers_drawn_anew(layer, x, is_on):
    return x + tf.math.log(tf.random.uniform(tf.shape(x)) - is_on)


def behind_an_embedding(layer, x, is_on):
    rows = tf.gather(layer.kernel.value, tf.argmax(x, axis=1))  # each about 1
    return x + tf.math.log(rows + 1 - 9 * is_on)


def an_infinity_whose_slope_is_none(layer, x, is_on):
    return x + tf.math.log(tf.math.bessel_i0(999 * is_on * tf.math.sigmoid(x)))


CASES = {
    # What it is, the operation, and the text of its line.
    "an overflow that a product makes NaN of": (product_of_zero_and_infinity, "Mul", "huge = 3e38"),
    "a matrix product in half precision": (half_precision_product, "MatMul", "tf.matmul(half"),
    "infinities that were given and subtracted": (difference_of_infinities, "Sub", "far - tf.roll"),
    "random numbers on the way": (behind_dropout, "Log", "tf.math.log(dropped"),
    "random numbers that cannot be drawn again": (behind_numbers_drawn_anew, "Log", "tf.math.log(tf.random"),
    "rows of a table": (behind_an_embedding, "Log", "tf.math.log(rows"),
    "within a loop": (in_a_loop, "StatelessWhile", "tf.while_loop"),
}


def model_with(wrong):
    layers = [keras.Input((4,)), dense(4, "before"), Made(wrong, name="made"), dense(4, "after", "tanh"), dense(1, "l")]
    return keras.Sequential(layers, name="model")


def train(model, n_steps=5, *, jit=False):
    optimizer = keras.optimizers.Adam(1e-3)
    x = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")

    @tf.function(jit_compile=jit)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    for _ in range(n_steps):
        step(tf.constant(x))


def origins_of(begun):
    begun.close()
    return [one for message in begun.collector.messages if message["type"] == "rows" for one in message["origins"]]


def line_of(wrong, text):
    lines, first = inspect.getsourcelines(wrong)
    return first + next(i for i, line in enumerate(lines) if text in line)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_first_operation(watch, case, jit):
    wrong, kind, text = CASES[case]
    model = model_with(wrong)
    begun = watch(model)
    train(model, jit=jit)
    (origin,) = origins_of(begun)
    operation = origin["operation"]
    assert origin["step"] == 2
    assert operation["type"] == kind
    assert operation["source"]["line"] == line_of(wrong, text)
    assert operation["source"]["file"] == __file__
    assert operation["layer"].endswith("made")
    assert not operation["is_gradient"]
    assert origin["n_nonfinite"] > 0
    assert origin["chain"][0]["name"] == operation["name"]
    assert 2 <= len(origin["chain"]) <= CHAIN_MAX
    assert all(link["n_nonfinite"] > 0 for link in origin["chain"])
    assert origin["chain"][-1]["is_gradient"]


@pytest.mark.parametrize("jit", [False, True])
def test_an_infinite_loss_with_finite_gradients(watch, jit):
    """A loop of one's own tells the hook of no loss: it is what the tape was asked the gradient of."""
    model = keras.Sequential([keras.Input((4,)), dense(4, "only")], name="model")
    optimizer = keras.optimizers.SGD(0.1)
    begun = watch(model)

    @tf.function(jit_compile=jit)
    def step(x, scale):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:  # of another target, with respect to other things
                inner.watch(x)
                score = tf.reduce_sum(model(x))
            slope = inner.gradient(score, x)
            beside = tf.reduce_sum(scale * tf.square(x))  # overflows
            loss = tf.reduce_mean(tf.square(model(x))) + tf.reduce_mean(tf.square(slope)) + beside
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return loss, gradients

    for i in range(4):
        loss, gradients = step(tf.ones((6, 4)), tf.constant(3e38 if i == 2 else 1.0))
        assert np.isfinite(float(loss)) == (i != 2)
        assert all(np.isfinite(gradient).all() for gradient in gradients)
    (origin,) = origins_of(begun)
    assert (origin["step"], origin["operation"]["type"]) == (2, "Sum")
    assert origin["operation"]["source"]["code"].startswith("beside = ")


def test_what_ran_first_is_to_blame_although_its_slope_broke_too(watch):
    """Of log(Inf) nothing comes back, for its slope is 0; what multiplies it overflows as well, but later."""
    model = model_with(an_infinity_whose_slope_is_none)
    begun = watch(model)
    train(model)
    (origin,) = origins_of(begun)
    assert (origin["step"], origin["operation"]["type"]) == (2, "BesselI0")
    assert origin["operation"]["source"]["line"] == line_of(an_infinity_whose_slope_is_none, "tf.math.bessel_i0")


def test_an_operation_of_the_gradient(watch):
    """The forward pass is finite; the slope of the norm at 0 is not, and names the line of the norm."""
    model = keras.Sequential([keras.Input((4,)), dense(4, "only")], name="model")
    optimizer = keras.optimizers.SGD(0.1)
    begun = watch(model)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            out = model(x)
            loss = tf.reduce_sum(tf.sqrt(tf.reduce_sum(tf.square(out), axis=0)))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(tf.zeros([2, 4]))
    (found,) = origins_of(begun)
    assert found["operation"]["is_gradient"]
    assert "tf.sqrt(tf.reduce_sum" in found["operation"]["source"]["code"]


@pytest.mark.parametrize("jit", [False, True])
def test_a_batch_of_any_size_is_counted(watch, jit):
    """In ``fit`` a graph does not know how many rows a batch has; the server takes what is told of it."""
    model = model_with(behind_dropout)
    model.compile(keras.optimizers.SGD(1e-3), "mse", jit_compile=jit)
    begun = watch(model)
    x = np.random.default_rng(0).normal(size=(18, 4)).astype("float32")
    model.fit(x, x[:, :1], batch_size=5, shuffle=False, verbose=0)
    (origin,) = origins_of(begun)
    assert (origin["step"], origin["operation"]["type"], origin["n_elements"]) == (2, "Log", 5 * 4)
    assert messages.Origin.model_validate(origin).n_elements == 5 * 4


def test_healthy_steps_say_nothing_and_the_batch_is_no_operation(watch):
    model = model_with(lambda layer, x, is_on: x)
    optimizer = keras.optimizers.SGD(0.1)
    begun = watch(model)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)

    step(tf.ones([2, 4]))
    step(tf.constant([[1.0, np.nan, 0.0, 0.0]]))
    assert origins_of(begun) == []


@pytest.mark.parametrize("jit", [False, True])
def test_the_training_is_the_same(collectors, jit):
    """Weights after some steps are bit for bit those without the hook, through the bad step too."""
    found = []
    for is_watched in (False, True):
        keras.utils.set_random_seed(0)
        model = model_with(behind_dropout)
        begun = None
        if is_watched:
            begun = gradwatch.watch(model, budget=0)
        train(model, n_steps=4, jit=jit)
        found.append([weight.numpy() for weight in model.weights])
        if begun:
            begun.close()
    for without, with_hook in zip(*found, strict=True):
        np.testing.assert_array_equal(without, with_hook)


# -- the way back, on graphs drawn by hand -----------------------------------------------------------------------------


class Drawn:
    def __init__(self, kind):
        self.type = kind


def draw(*nodes):
    return [Node(Drawn(kind), tuple(inputs)) for kind, inputs in nodes]


def origin(nodes, root, *, nan=(), inf=()):
    counts = np.zeros((2, len(nodes)), np.float32)
    counts[0, list(nan)] = counts[1, list(inf)] = 1
    return find_origin(nodes, [root], counts)


def test_what_only_passes_on_has_the_counts_of_what_it_passes_on():
    made = {}

    @tf.function
    def step(x):
        out = tf.transpose(tf.expand_dims(-tf.reshape(tf.stop_gradient(tf.math.log(x)), [3, 2]), 0))
        made["replay"] = Replay([2.0 * tf.concat([out, out], 0)], None, [])
        repeat = tf.function(lambda: made["replay"]._count(Copy(made["replay"]._ops)))
        made["counts"] = repeat.get_concrete_function()
        return made["counts"]()

    x = np.float32([1, 0, -1, 2, 0, 3])
    found = step(tf.constant(x)).numpy().reshape(3, -1)
    ops = [node.op.type for node in made["replay"]._nodes]
    with np.errstate(divide="ignore", invalid="ignore"):
        bad = np.log(np.float64(x))
    expected = [np.isnan(bad).sum(), np.isinf(bad).sum(), bad.size]
    for kind in ("Log", "StopGradient", "Reshape", "Neg", "ExpandDims", "Transpose"):
        assert found[:, ops.index(kind)].tolist() == expected, kind
    for kind in ("ConcatV2", "Mul"):
        assert found[:, ops.index(kind)].tolist() == [2 * n for n in expected]
    calls = [op for op in made["counts"].graph.get_operations() if op.type == "PartitionedCall"]
    assert len(calls) == len({"x", "the factor 2", "Log", "ConcatV2", "Mul"})


def test_bad_values_that_lead_nowhere_are_no_origin():
    nodes = draw(("Placeholder", []), ("Log", [0]), ("Mul", [0]), ("SelectV2", [1, 2]))
    assert origin(nodes, 3, inf=[1]) == []  # masked out: the gradient is good
    assert origin(nodes, 3, inf=[1, 3]) == [1, 3]


def test_a_weight_that_is_bad_already_is_no_origin():
    nodes = draw(("ReadVariableOp", []), ("Placeholder", []), ("MatMul", [0, 1]))
    assert origin(nodes, 2, nan=[0, 2]) == []


def test_infinities_that_were_made_come_before_the_nan_made_of_them():
    nodes = draw(("Placeholder", []), ("Exp", [0]), ("Sub", [1, 1]), ("Mul", [2]))
    assert origin(nodes, 3, inf=[1], nan=[2, 3]) == [1, 2, 3]


def test_infinities_that_were_given_do_not():
    nodes = draw(("Const", []), ("Placeholder", []), ("AddV2", [0, 1]), ("Sub", [2, 2]), ("Mul", [3]))
    assert origin(nodes, 4, inf=[0, 2], nan=[3, 4]) == [3, 4]


def test_a_long_way_is_told_by_its_ends():
    nodes = draw(("Placeholder", []), ("Log", [0]), *(("Mul", [i]) for i in range(1, 40)))
    way = origin(nodes, 40, nan=range(1, 41))
    assert len(way) == CHAIN_MAX
    assert (way[0], way[-1]) == (1, 40)
