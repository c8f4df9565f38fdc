"""Risky operations: which are found in a graph, in which order, with which line and layer, and what is measured."""

import inspect
import math
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch import operation
from gradwatch.operation import RISKS, describe_operations, find_operations, operation_block
from gradwatch.protocol import OPERATION_STATISTICS
from tests.hook.diagnosis import find_line

THIS = sys.modules[__name__]
MAX = float(np.finfo(np.float32).max)


def trace(fn, *inputs, layer_paths=()):
    """Traces a gradient: the risky operations as described, and their block."""
    found = {}

    @tf.function
    def step(*args):
        variables = [tf.identity(arg) for arg in args]
        with tf.GradientTape() as tape:
            for variable in variables:
                tape.watch(variable)
            loss = fn(*variables)
        gradients = tape.gradient(loss, variables)
        ops = find_operations(gradients, loss)
        found["described"] = describe_operations(ops, layer_paths)
        return operation_block(ops)

    block = step(*[tf.constant(value) for value in inputs]).numpy()
    return found["described"], block


def row(fn, type_, *inputs, is_gradient=False):
    """What is measured of the only operation of a type, by name."""
    described, block = trace(fn, *inputs)
    (place,) = [i for i, op in enumerate(described) if (op.type, op.is_gradient) == (type_, is_gradient)]
    return dict(zip(OPERATION_STATISTICS, block[place].tolist(), strict=True))


# -- what is measured, against NumPy in float64 ----------------------------------------------------------------------

X = np.array([0.3, -0.7, 0.05, 0.9], np.float32)
POSITIVE = np.abs(X) + 0.01
ABOVE_ONE = POSITIVE + 1
B = np.array([0.5, -0.02, 3.0, 0.1], np.float32)
EXP_LIMIT = math.log(MAX)


def slope_of(f, *inputs, at=0, h=1e-6):
    """The largest |df / dx| by central differences in float64."""
    inputs = [np.asarray(value, np.float64) for value in inputs]
    low, high = list(inputs), list(inputs)
    low[at], high[at] = inputs[at] - h, inputs[at] + h
    return np.abs((f(*high) - f(*low)) / (2 * h)).max()


def reciprocal(x):
    return tf.raw_ops.Reciprocal(x=x)


def inverse(x):
    return tf.raw_ops.Inv(x=x)


def bessel_i1(x):
    return sum((x / 2) ** (2 * k + 1) / (math.factorial(k) * math.factorial(k + 1)) for k in range(30))


# type: (TensorFlow, NumPy, inputs, margin in float64)
FORWARD = {
    "Log": (tf.math.log, np.log, (POSITIVE,), POSITIVE.min()),
    "Log1p": (tf.math.log1p, np.log1p, (X,), (1 + X).min()),
    "Sqrt": (tf.sqrt, np.sqrt, (POSITIVE,), POSITIVE.min()),
    "Rsqrt": (tf.math.rsqrt, lambda x: x**-0.5, (POSITIVE,), POSITIVE.min()),
    "Reciprocal": (reciprocal, lambda x: 1 / x, (B,), np.abs(B).min()),
    "Inv": (inverse, lambda x: 1 / x, (B,), np.abs(B).min()),
    "Exp": (tf.exp, np.exp, (X,), EXP_LIMIT - X.max()),
    "Expm1": (tf.math.expm1, np.expm1, (X,), EXP_LIMIT - X.max()),
    "Sinh": (tf.sinh, np.sinh, (X,), EXP_LIMIT - np.abs(X).max()),
    "Cosh": (tf.cosh, np.cosh, (X,), EXP_LIMIT - np.abs(X).max()),
    "BesselI0": (tf.math.bessel_i0, np.i0, (X,), EXP_LIMIT - np.abs(X).max()),
    "BesselI1": (tf.math.bessel_i1, bessel_i1, (X,), EXP_LIMIT - np.abs(X).max()),
    "Acos": (tf.acos, np.arccos, (X,), 1 - np.abs(X).max()),
    "Asin": (tf.asin, np.arcsin, (X,), 1 - np.abs(X).max()),
    "Atanh": (tf.atanh, np.arctanh, (X,), 1 - np.abs(X).max()),
    "Acosh": (tf.acosh, np.arccosh, (ABOVE_ONE,), ABOVE_ONE.min() - 1),
    "Pow": (tf.pow, np.power, (POSITIVE, np.float32(0.5) + 0 * X), POSITIVE.min()),
}
DIVIDING = {
    "RealDiv": (tf.divide, lambda a, b: a / b),
    "Div": (lambda a, b: tf.raw_ops.Div(x=a, y=b), lambda a, b: a / b),
    "DivNoNan": (tf.math.divide_no_nan, lambda a, b: a / b),
    "Xdivy": (tf.math.xdivy, lambda a, b: a / b),
    "Xlogy": (tf.math.xlogy, lambda a, b: a * np.log(b)),
}


@pytest.mark.parametrize("type_", FORWARD)
def test_forward_operation(type_):
    fn, reference, inputs, margin = FORWARD[type_]
    found = row(fn, type_, *inputs)
    assert found["margin"] == pytest.approx(float(margin), rel=1e-5)
    assert found["amplification"] == pytest.approx(slope_of(reference, *inputs), rel=1e-3)
    assert (found["n_nonfinite"], found["n_nonfinite_in"], found["n_singular"], found["n_in"]) == (0, 0, 0, 4)


@pytest.mark.parametrize("type_", DIVIDING)
def test_division(type_):
    """The divisor counts; the slope is bounded from above, over all pairs of the elements at hand."""
    fn, reference = DIVIDING[type_]
    divisor = np.abs(B) if type_ == "Xlogy" else B
    found = row(fn, type_, POSITIVE, divisor)
    assert found["margin"] == pytest.approx(0.02, rel=1e-5)
    a, b = np.meshgrid(POSITIVE.astype(np.float64), divisor.astype(np.float64))
    exact = slope_of(reference, a, b, at=1)
    if type_ != "Xlogy":
        exact = max(exact, slope_of(reference, a, b))
    assert found["amplification"] == pytest.approx(exact, rel=1e-3)
    assert (found["n_singular"], found["n_in"]) == (0, 4)


GRADIENT = {
    "SqrtGrad": (tf.sqrt, np.sqrt),
    "RsqrtGrad": (tf.math.rsqrt, lambda x: x**-0.5),
    "ReciprocalGrad": (reciprocal, lambda x: 1 / x),
}


@pytest.mark.parametrize("type_", GRADIENT)
def test_gradient_operation_is_as_steep_as_its_forward_one(type_):
    fn, reference = GRADIENT[type_]
    found = row(fn, type_, POSITIVE, is_gradient=True)
    assert found["amplification"] == pytest.approx(slope_of(reference, POSITIVE), rel=1e-3)
    assert found["margin"] == pytest.approx(float(np.abs(reference(POSITIVE)).min()), rel=1e-5)
    assert math.isnan(found["n_singular"]) == (type_ != "SqrtGrad")


def test_every_risk_is_tested():
    assert set(RISKS) == {*FORWARD, *DIVIDING, *GRADIENT}


SINGULAR = {
    "Log": (tf.math.log, [0.0, 1.0, 0.0], 2, 2),
    "Sqrt": (tf.sqrt, [0.0, 1.0, 4.0], 1, 0),
    "Rsqrt": (tf.math.rsqrt, [0.0, 1.0, 4.0], 1, 1),
    "Exp": (tf.exp, [1.0, 200.0, 0.0], 1, 1),
    "Acos": (tf.acos, [1.0, 0.5, -1.0], 2, 0),
    "Pow": (lambda x: x**-0.5, [0.0, 2.0, 3.0], 1, 1),
    "RealDiv": (lambda x: 1.0 / x, [0.0, 2.0, 0.0], 2, 2),
}


@pytest.mark.parametrize("type_", SINGULAR)
def test_at_the_singular_point(type_):
    fn, values, n_singular, n_nonfinite = SINGULAR[type_]
    found = row(fn, type_, np.array(values, np.float32))
    assert (found["n_singular"], found["n_nonfinite"], found["n_in"]) == (n_singular, n_nonfinite, 3)
    assert found["margin"] <= 0
    assert found["amplification"] > 1e6


def test_nonfinite_inputs_are_counted_and_left_out_of_the_margin():
    found = row(tf.math.log, "Log", np.array([np.nan, 0.5, np.inf, 0.25], np.float32))
    assert (found["n_nonfinite_in"], found["n_nonfinite"]) == (2, 2)
    assert found["margin"] == 0.25
    assert found["amplification"] == 4


def test_nothing_finite_gives_no_margin():
    found = row(tf.math.log, "Log", np.array([np.nan, np.nan], np.float32))
    assert (found["margin"], found["n_singular"]) == (pytest.approx(MAX), 0)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64], ids=lambda dtype: dtype.name)
def test_other_precisions(dtype):
    found = row(lambda x: tf.cast(tf.math.log(tf.cast(x, dtype)), tf.float32), "Log", np.array([0.5, 2.0], np.float32))
    assert (found["margin"], found["amplification"], found["n_nonfinite"]) == (0.5, 2, 0)


def test_exponential_of_half_precision_overflows_where_it_does():
    found = row(lambda x: tf.cast(tf.exp(tf.cast(x, tf.float16)), tf.float32), "Exp", np.array([12.0, 1.0], np.float32))
    assert found["n_nonfinite"] == 1
    assert found["margin"] == pytest.approx(math.log(65_504) - 12, abs=1e-3)
    assert found["n_singular"] == 1


def test_empty_tensor():
    found = row(lambda x: tf.reduce_sum(tf.math.log(x)), "Log", np.zeros(0, np.float32))
    assert (found["n_in"], found["n_singular"], found["n_nonfinite"]) == (0, 0, 0)


def test_operation_without_a_margin_is_counted_only():
    found = row(tf.nn.softmax, "Softmax", np.array([np.inf, 0.0], np.float32))
    assert found["n_nonfinite"] > 0
    assert found["n_nonfinite_in"] == 1
    assert math.isnan(found["margin"])


# -- order, names, lines -------------------------------------------------------------------------------------------


def test_order_is_that_of_execution_and_the_gradient_knows_its_forward():
    def fn(x):
        return tf.sqrt(tf.exp(x) / (1.0 + x))

    described, _ = trace(fn, POSITIVE)
    assert [(op.type, op.is_gradient) for op in described][:4] == [
        ("Exp", False),
        ("RealDiv", False),
        ("Sqrt", False),
        ("SqrtGrad", True),
    ]
    slope = described[3]
    assert slope.forward == {"type": "Sqrt", "name": described[2].name}
    assert all(op.forward is None for op in described[:3])


def test_division_by_a_constant_or_by_a_count_is_no_risk():
    described, _ = trace(lambda x: tf.reduce_mean(x / 3.0) + tf.sqrt(tf.reduce_sum(x)), POSITIVE)
    assert {op.type for op in described} == {"Sqrt", "SqrtGrad"}
    described, _ = trace(lambda x: x / tf.constant(0.0), POSITIVE)
    assert "RealDiv" in {op.type for op in described}


def test_large_outputs_without_a_margin_are_left_alone():
    large = np.ones((300, 300), np.float32)
    assert "Softmax" not in {op.type for op in trace(lambda x: tf.sqrt(tf.nn.softmax(x)), large)[0]}
    assert "Softmax" in {op.type for op in trace(lambda x: tf.sqrt(tf.nn.softmax(x)), POSITIVE)[0]}


FORWARD_OF = {
    "log": (tf.math.log, "Reciprocal", "Log"),
    "log1p": (tf.math.log1p, "Reciprocal", "Log1p"),
    "division": (lambda x: 2.0 / x, "RealDiv", "RealDiv"),
    "power": (lambda x: x**0.3, "Pow", "Pow"),
    "acos": (tf.acos, "Reciprocal", "Acos"),
    "asin": (tf.asin, "Reciprocal", "Asin"),
    "acosh": (lambda x: tf.acosh(1.0 + x), "RealDiv", "Acosh"),
    "atan2": (lambda x: tf.atan2(x, 1.0 - x), "RealDiv", "Atan2"),
    "sinh": (tf.sinh, "Cosh", "Sinh"),
    "cosh": (tf.cosh, "Sinh", "Cosh"),
    "bessel": (tf.math.bessel_i0, "BesselI1", "BesselI0"),
    "xlogy": (lambda x: tf.math.xlogy(2.0, x), "Xdivy", "Xlogy"),
}


@pytest.mark.parametrize("name", FORWARD_OF)
def test_gradients_made_of_other_types_know_their_forward_too(name):
    fn, type_, forward = FORWARD_OF[name]
    ops, _ = trace(fn, POSITIVE)
    slopes = [op for op in ops if op.is_gradient]
    assert type_ in [op.type for op in slopes]
    assert {(op.forward or {}).get("type") for op in slopes} == {forward}


def test_divisions_of_two_forward_operations_are_told_apart():
    ops, _ = trace(lambda x: tf.atan2(x, 1.0 - x) / (1.0 + x), POSITIVE)
    by_name = {op.name: op.forward["name"] for op in ops if op.is_gradient}
    assert by_name.pop("gradient_tape/truediv") == "Atan2"
    assert set(by_name.values()) == {"truediv"}


def helper(x):
    return tf.math.log(x)  # inside a helper


def test_line_is_the_innermost_of_the_users_own():
    ops, _ = trace(lambda x: helper(x) * 2.0, POSITIVE)
    line = find_line("inside a helper", THIS)
    for op in ops:
        assert op.source == {
            "file": __file__,
            "line": line,
            "code": "return tf.math.log(x)  # inside a helper",
            "excerpt": {"first": line - 2, "lines": Path(__file__).read_text().splitlines()[line - 3 : line + 2]},
        }


def test_line_of_a_statement_over_several_lines():
    def fn(x):
        return tf.reduce_sum(
            tf.math.log(  # first line of the call
                x,
            )
        )

    ops, _ = trace(fn, POSITIVE)
    lines = {op.source["line"] for op in ops}
    assert lines <= set(range(*_lines_of(fn)))


def _lines_of(fn):
    source, start = inspect.getsourcelines(fn)
    return start, start + len(source)


def test_operations_that_training_does_not_depend_on_are_left_out():
    def fn(x):
        tf.math.log(x)  # a metric
        return tf.reduce_sum(tf.sqrt(x))

    ops, _ = trace(fn, POSITIVE)
    assert "Log" not in [op.type for op in ops]


def test_integers_are_left_out():
    ops, _ = trace(lambda x: x * tf.cast(tf.math.pow(tf.cast(x, tf.int32), 2), tf.float32), POSITIVE)
    assert "Pow" not in [op.type for op in ops]


def test_at_most_so_many():
    def fn(x):
        for _ in range(operation.OPERATIONS_MAX + 30):
            x = tf.sqrt(x + 1.0)
        return x

    ops, block = trace(fn, POSITIVE)
    assert len(ops) == len(block) == operation.OPERATIONS_MAX
    assert {op.type for op in ops} == {"Sqrt"}  # the first in execution order: a cause comes before its consequence


def test_no_gradient_and_no_loss():
    with tf.Graph().as_default():
        assert find_operations([None], None) == []
        assert operation_block([]).shape == (0, 6)


def test_sparse_gradients_are_walked_through():
    table = tf.Variable(tf.ones([5, 2]))
    found = []

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(tf.gather(table, [1, 3])))
        found.extend(find_operations(tape.gradient(loss, [table]), loss))

    step()
    assert [op.type for op in found] == ["Log", "Reciprocal"]


# -- control flow --------------------------------------------------------------------------------------------------


def test_condition_is_one_operation_with_its_line():
    def fn(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.math.log(x), lambda: x)  # condition

    described, block = trace(fn, np.array([0.0, 1.0], np.float32))
    assert {op.type for op in described} == {"If"} or {op.type for op in described} == {"StatelessIf"}
    assert {op.source["line"] for op in described} == {find_line("condition", THIS)}
    assert block[0, 0] == 1  # -Inf comes out
    assert block[0, 1] == 0  # and went in finite


def test_loop_is_one_operation():
    def fn(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.math.log(y)), [0, x])[1]

    described, block = trace(fn, np.array([0.5], np.float32))
    assert [op.type in {"While", "StatelessWhile"} for op in described] == [True] * len(described)
    assert [op.is_gradient for op in described] == [False, True]
    assert (block[0, 0], block[0, 1]) == (1, 0)  # the logarithm of a negative number


def test_nested_function_is_one_operation_with_the_line_of_its_call():
    @tf.function
    def inner(x):
        return tf.math.log(x)

    def fn(x):
        return inner(x)  # nested call

    described, block = trace(fn, np.array([0.0, 1.0], np.float32))
    assert {op.type for op in described} <= {"PartitionedCall", "StatefulPartitionedCall"}
    assert described[0].source["line"] == find_line("nested call", THIS)
    assert (block[0, 0] > 0, block[0, 1]) == (True, 0)
    assert [op.is_gradient for op in described] == [False, True]
    assert described[1].forward["name"] == described[0].name


# -- layers --------------------------------------------------------------------------------------------------------


class Inner(layers.Layer):
    def call(self, x):
        return tf.sqrt(x * x + 1.0)


class Outer(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.inner = Inner(name="inner")

    def call(self, x):
        return tf.math.log(self.inner(x))


def layers_of(watch, read, model):
    model.compile("sgd", "mse", jit_compile=False)
    watched = watch(model)
    model.fit(np.ones((4, 3), np.float32), np.ones((4, 1), np.float32), epochs=1, verbose=0)
    recording = read(watched)
    operations = recording.tables[recording.stream]["operations"]
    return {(op["type"], op["is_gradient"]): op for op in operations}, operations


def test_layers_within_a_layer(watch, read):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2), Outer(name="outer"), layers.Dense(1)], name="model")
    found, _ = layers_of(watch, read, model)
    assert found["Sqrt", False]["layer"].split("/")[-2:] == ["outer", "inner"]
    assert found["SqrtGrad", True]["layer"] == found["Sqrt", False]["layer"]
    assert found["Log", False]["layer"].split("/")[-1] == "outer"


def test_layers_within_a_model_within_a_model(watch, read):
    inside = keras.Sequential([keras.Input((3,)), layers.Dense(2), Inner(name="unit")], name="inside")
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(1)(inside(x)), name="whole")
    found, _ = layers_of(watch, read, model)
    assert found["Sqrt", False]["layer"].split("/")[-1] == "unit"


def test_shared_layer_is_named_at_each_call(watch, read):
    x = keras.Input((3,))
    unit = Inner(name="unit")
    hidden = unit(layers.Dense(2)(x))
    model = keras.Model(x, layers.Dense(1)(unit(hidden)), name="shared")
    _, operations = layers_of(watch, read, model)
    roots = [op for op in operations if op["type"] == "Sqrt"]
    assert len(roots) == 2
    assert {op["layer"] for op in roots} == {"unit"}
    assert len({op["name"] for op in roots}) == 2


def test_layer_whose_name_looks_like_another_call(watch, read):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2), Inner(name="unit"), Inner(name="unit_1")], name="m")
    model.add(layers.Dense(1))
    _, operations = layers_of(watch, read, model)
    roots = [op["layer"].split("/")[-1] for op in operations if op["type"] == "Sqrt"]
    assert roots == ["unit", "unit_1"]


def test_keras_own_loss_under_fit_has_no_line_of_the_users(watch, read):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2), layers.LayerNormalization(name="norm")], name="m")
    found, operations = layers_of(watch, read, model)
    assert found["Rsqrt", False]["layer"].split("/")[-1] == "norm"
    assert {op["source"] for op in operations if op["layer"]} == {None}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x: tf.math.log(x + 1e-8), {"type": "AddV2", "constant": pytest.approx(1e-8)}),
        (lambda x: tf.math.log(tf.maximum(x, 1e-7)), {"type": "Maximum", "constant": pytest.approx(1e-7)}),
        (lambda x: tf.math.log(tf.clip_by_value(x, 1e-6, 1.0)), {"type": "Maximum", "constant": pytest.approx(1e-6)}),
        (lambda x: tf.math.log(1.0 - x), {"type": "Sub", "constant": 1.0}),
        (
            lambda x: tf.math.log(1.0 - tf.clip_by_value(x, 0.01, 0.75)),
            {"type": "Sub", "constant": 1.0, "least": pytest.approx(0.25)},
        ),
        (
            lambda x: tf.math.log(1.0 - x + 1e-7),
            {"type": "AddV2", "constant": pytest.approx(1e-7), "from": 1.0},
        ),
        (
            lambda x: tf.math.log(tf.clip_by_value(1.0 - x, 1e-6, 1.0)),
            {"type": "Maximum", "constant": pytest.approx(1e-6), "from": 1.0},
        ),
        (lambda x: tf.math.log(1.0 - tf.minimum(x, 0.75)), {"type": "Sub", "constant": 1.0, "least": 0.25}),
        (lambda x: tf.math.log(1.0 - tf.minimum(x, 1.0)), {"type": "Sub", "constant": 1.0}),
        (lambda x: tf.math.log(1.0 - tf.maximum(x, 0.1)), {"type": "Sub", "constant": 1.0}),
        (lambda x: tf.math.log(x - 1.0), {"type": "Sub", "constant": None}),
        (lambda x: tf.math.log(tf.nn.softmax(x)), {"type": "Softmax", "constant": None}),
        (lambda x: tf.exp(tf.minimum(x, [20.0, 30.0])), {"type": "Minimum", "constant": 30.0}),
        (lambda x: 1.0 / (x + x), {"type": "AddV2", "constant": None}),
        (lambda x: 1.0 / (tf.nn.softplus(x) + 0.25)[..., None], {"type": "AddV2", "constant": 0.25}),
        (
            lambda x: tf.math.log(tf.reduce_sum(0.5 * tf.exp(x), axis=-1, keepdims=True)),
            {"type": "Sum", "constant": None, "exponential": True},
        ),
        (lambda x: 1.0 / tf.sqrt(tf.cast(x, "float16") + 1e-8), {"type": "Sqrt", "constant": None, "lost": True}),
        (
            lambda x: 1.0 / tf.sqrt(tf.cast(x, "float16") + tf.cast(1e-8, "float16")),  # cast in the graph
            {"type": "Sqrt", "constant": None, "lost": True},
        ),
        (
            lambda x: 1.0 / tf.sqrt(tf.cast(x, "float16") + tf.cast(1e-3, "float16")),
            {"type": "Sqrt", "constant": None},
        ),
        (lambda x: tf.math.log(tf.cast(x, "float16") + 1e-8), {"type": "AddV2", "constant": 0.0, "lost": True}),
        (lambda x: 1.0 / tf.sqrt(tf.cast(x, "float16") + 1e-4), {"type": "Sqrt", "constant": None}),
        (lambda x: tf.math.log(tf.exp(x) / 2.5), {"type": "RealDiv", "constant": None, "exponential": True}),
        (lambda x: tf.math.log(1.0 + tf.exp(x)), {"type": "AddV2", "constant": 1.0}),
        (lambda x: tf.math.log(tf.reduce_sum(x)), {"type": "Sum", "constant": None}),
    ],
)
def test_what_holds_an_input_away_is_told(make, expected) -> None:
    described, _ = trace(lambda x: tf.reduce_sum(make(x)), [0.3, 0.4])
    assert expected in [one.input for one in described if not one.is_gradient]
    assert all(one.input is None for one in described if one.is_gradient)
