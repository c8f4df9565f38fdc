"""Users' lines, before and after."""

from __future__ import annotations

import ast

import pytest

from gradwatch_server.health.verdict.rewrite import (
    as_next,
    as_transpose,
    cast_before,
    guard_where,
    rewrite_line,
    sum_of_logs,
    with_keyword,
    within_half,
)

LINES = [
    ("Sqrt", "return tf.norm(x, axis=-1)", "return tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1) + 1e-12)"),
    (
        "Sqrt",
        "d = tf.linalg.norm(a - b, axis=0, keepdims=True)  # distance",
        "d = tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=0, keepdims=True) + 1e-12)  # distance",
    ),
    ("Sqrt", "n = norm(grads)", "n = tf.sqrt(tf.reduce_sum(tf.square(grads)) + 1e-12)"),
    ("Sqrt", "loss += tf.reduce_mean(tf.sqrt(u))", "loss += tf.reduce_mean(tf.sqrt(u + 1e-12))"),
    ("Sqrt", "größe = tf.sqrt(ä)", "größe = tf.sqrt(ä + 1e-12)"),
    ("Rsqrt", "y = x * tf.math.rsqrt(v)", "y = x * tf.math.rsqrt(v + 1e-12)"),
    ("Log", "l = -tf.math.log(p)", "l = -tf.math.log(tf.maximum(p, 1e-7))"),
    ("Log", "z = tf.math.log(tf.nn.softmax(z, axis=-1))", "z = tf.nn.log_softmax(z, axis=-1)"),
    ("Log", "l = tensorflow.math.log(p)", "l = tensorflow.math.log(tensorflow.maximum(p, 1e-7))"),
    ("Log1p", "y = tf.math.log1p(x)", "y = tf.math.log1p(tf.maximum(x, -1 + 1e-7))"),
    ("RealDiv", "return s / n", "return tf.math.divide_no_nan(s, n)"),
    ("RealDiv", "m = tf.reduce_sum(v * w) / tf.reduce_sum(w)",
     "m = tf.math.divide_no_nan(tf.reduce_sum(v * w), tf.reduce_sum(w))"),
    ("RealDiv", "r = tf.divide(a, b)", "r = tf.math.divide_no_nan(a, b)"),
    ("Exp", "w = tf.exp(z)", "w = tf.exp(tf.minimum(z, 30.0))"),
    ("BesselI0", "z = c + tf.math.log(tf.math.bessel_i0(k))", "z = c + tf.math.log(tf.math.bessel_i0e(k)) + tf.abs(k)"),
    ("Pow", "y = x ** 0.5", "y = tf.pow(tf.maximum(x, 1e-7), 0.5)"),
    ("Pow", "y = tf.pow(x, p)", "y = tf.pow(tf.maximum(x, 1e-7), p)"),
    ("Sqrt", "n = ops.norm(x, axis=-1)", "n = ops.sqrt(ops.sum(ops.square(x), axis=-1) + 1e-12)"),
    ("Log", "l = keras.ops.log(p)", "l = keras.ops.log(keras.ops.maximum(p, 1e-7))"),
    ("Log", "z = ops.log(ops.softmax(z))", "z = ops.log_softmax(z)"),
    ("Exp", "fade = ops.exp(-gap * rate)", "fade = ops.exp(ops.minimum(-gap * rate, 30.0))"),
    ("RealDiv", "r = ops.divide(a, b)", "r = ops.divide_no_nan(a, b)"),
    ("Pow", "y = ops.power(x, p)", "y = ops.power(ops.maximum(x, 1e-7), p)"),
    ("Acos", "a = ops.arccos(c)", "a = ops.arccos(ops.clip(c, -(1 - 1e-6), 1 - 1e-6))"),
    ("Acosh", "d = tf.math.acosh(1.0 + g)", "d = tf.math.acosh(tf.maximum(1.0 + g, 1 + 1e-6))"),
    ("Acosh", "d = ops.arccosh(x)", "d = ops.arccosh(ops.maximum(x, 1 + 1e-6))"),
    ("Acos", "a = tf.acos(c)", "a = tf.acos(tf.clip_by_value(c, -(1 - 1e-6), 1 - 1e-6))"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("return (x - m) / ops.sqrt(v + 1e-6)", "return (x - m) / ops.sqrt(ops.maximum(v, 0.0) + 1e-6)"),
        ("s = tf.sqrt(1e-6 + m2 - m * m)", "s = tf.sqrt(tf.maximum(1e-6 + m2 - m * m, 0.0) + 1e-12)"),
        ("s = tf.math.sqrt(m2 - m**2)", "s = tf.math.sqrt(tf.maximum(m2 - m**2, 0.0) + 1e-12)"),
        ("s = x ** 0.5", None),
    ],
)
def test_a_root_of_what_may_be_negative_is_bounded(line: str, mended: str | None) -> None:
    assert rewrite_line(line, "Sqrt", is_negative=True) == mended


@pytest.mark.parametrize(("function", "line", "mended"), LINES)
def test_a_known_form_is_mended(function: str, line: str, mended: str) -> None:
    assert rewrite_line(f"        {line}", function) == mended
    ast.parse(mended)


@pytest.mark.parametrize(
    ("function", "line"),
    [
        ("Sqrt", "loss = my_loss(y, model(x))"),
        ("Sqrt", "d = tf.norm(x, ord=1)"),
        ("Sqrt", "d = tf.norm(x, **options)"),
        ("Sqrt", "d = tf.norm("),
        ("Sqrt", "for x in tf.sqrt(y):"),
        ("Log", "l = log_prob(x)"),
        ("Svd", "s = tf.linalg.svd(m)"),
        ("RealDiv", ""),
    ],
)
def test_an_unknown_form_is_left_alone(function: str, line: str) -> None:
    assert rewrite_line(line, function) is None


WHERES = [
    (
        "Log",
        "y = tf.where(x > 0, tf.math.log(x), 0.0)",
        "y = tf.where(x > 0, tf.math.log(tf.where(x > 0, x, 1.0)), 0.0)",
    ),
    ("RealDiv", "y = tf.where(b > 0, a / b, 0.0)", "y = tf.where(b > 0, a / tf.where(b > 0, b, 1.0), 0.0)"),
    (
        "Sqrt",
        "y = tf.where(m, tf.sqrt(x), tf.zeros_like(x))",
        "y = tf.where(m, tf.sqrt(tf.where(m, x, 1.0)), tf.zeros_like(x))",
    ),
]


@pytest.mark.parametrize(("function", "line", "mended"), WHERES)
def test_where_is_doubled(function: str, line: str, mended: str) -> None:
    assert guard_where(line, function) == mended


@pytest.mark.parametrize("line", ["y = tf.where(x > 0, tf.sin(x), 0.0)", "i = tf.where(x > 0)", "y = tf.math.log(x)"])
def test_other_wheres_are_left_alone(line: str) -> None:
    assert guard_where(line, "Log") is None


def test_a_number_that_float16_cannot_hold_is_bounded() -> None:
    line = "        scores = self.query(h) + padding[:, :, None] * -1e9"
    assert within_half(line) == "scores = self.query(h) + padding[:, :, None] * -1e4"
    assert within_half("scores = h - 65504 * mask") is None
    assert within_half("scores = h + (1.0 - mask) * LOW") is None


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("x = signals.reshape(n, T, LEGS)", "x = signals.transpose(0, 2, 1)"),
        ("x = np.reshape(a + b, (n, T, 3))", "x = np.transpose(a + b, (0, 2, 1))"),
        ("x = signals", None),
    ],
)
def test_a_reshape_becomes_a_transpose(line: str, mended: str | None) -> None:
    assert as_transpose(line, (0, 2, 1)) == mended


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("n = tf.math.log(tf.reduce_prod(left, axis=1))", "n = tf.reduce_sum(tf.math.log(left), axis=1)"),
        ("return -ops.log(ops.prod(p + e, -1, keepdims=True))", "return -ops.sum(ops.log(p + e), -1, keepdims=True)"),
        ("n = tf.math.log(tf.reduce_prod(p))", "n = tf.reduce_sum(tf.math.log(p))"),
        ("n = tf.math.log(p)", None),
        ("n = tf.reduce_prod(p, axis=1)", None),
    ],
)
def test_a_logarithm_of_a_product_becomes_a_sum(line: str, mended: str | None) -> None:
    assert sum_of_logs(line) == mended


def test_an_argument_is_added() -> None:
    line = "mask = tf.cast(tf.image.resize(mask, (8, 8)), tf.int32)"
    mended = 'mask = tf.cast(tf.image.resize(mask, (8, 8), method="nearest"), tf.int32)'
    assert with_keyword(line, frozenset({"resize"}), 'method="nearest"') == mended
    assert with_keyword(line, frozenset({"zeros_like"}), "dtype=np.float32") is None


def test_both_sides_are_cast_before_their_difference() -> None:
    mended = 'moved = (second[1:].astype("float32") - first.astype("float32")) / 255'
    assert cast_before("moved = (second[1:] - first) / 255", "float32") == mended
    assert cast_before("moved = second / first", "float32") is None


def test_an_iterator_is_made_once() -> None:
    assert as_next("x, y = next(iter(data.batch(8)))", "batches") == ("x, y = next(batches)", "data.batch(8)")
    assert as_next("x, y = next(batches)", "other") is None
