"""The user's own line, rewritten with a safe form of the operation in it. Pure text; knows nothing of findings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from gradwatch_server.health.operation_table import EXPONENTIALS

__all__ = [
    "Text",
    "as_next",
    "as_transpose",
    "cast_before",
    "guard_where",
    "rewrite_line",
    "say_change",
    "sum_of_logs",
    "with_factor",
    "with_keyword",
    "within_half",
]

EPSILON: Final = "1e-12"
LOG_EPSILON: Final = "1e-7"
HALF_LIMIT: Final = 65_504
HALF_NUMBER: Final = "1e4"
"""As good as infinite in a softmax, and finite in float16 with what is added to it."""

_NORMS: Final = {"norm", "euclidean_norm"}
_SOFTMAX: Final = {"softmax"}
_OF_MANY: Final = {"prod", "reduce_prod"}
_PACKAGES: Final = {"np", "numpy", "tf", "ops"}


def rewrite_line(code: str, function: str, *, is_negative: bool = False) -> str | None:
    """A line with a safe form in place of an operation.

    Args:
        code: the line.
        function: TensorFlow's type of the operation in it, e.g. ``Sqrt``.
        is_negative: whether a number below 0 came into it, and not exactly 0.

    Returns:
        The changed line, or None where the operation is not seen in it in a form that is known.
    """
    safe = _bounded_root if is_negative and function == "Sqrt" else _SAFE.get(function)
    return None if safe is None else _replace(code, safe)


def within_half(code: str) -> str | None:
    """A line with numbers that float16 can hold in place of those that are infinite in it; None where it has none."""

    def bound(node: ast.AST, _: Text) -> str | None:
        is_number = isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
        return HALF_NUMBER if is_number and abs(ast.literal_eval(node)) > HALF_LIMIT else None

    return _replace(code, bound)


def guard_where(code: str, function: str) -> str | None:
    """A line ``where(condition, f(x), other)`` with the input of f made harmless too, or None where it is no such."""
    names = _NAMES.get(function, frozenset())

    def guard(node: ast.AST, text: Text) -> str | None:
        if not (isinstance(node, ast.Call) and _name(node) == "where" and len(node.args) == 3):
            return None
        condition, chosen, other = node.args
        if isinstance(chosen, ast.Call) and _name(chosen) in names and len(chosen.args) >= 1:
            inner = chosen.args[0]
        elif function in _DIVISIONS and isinstance(chosen, ast.BinOp) and isinstance(chosen.op, ast.Div):
            inner = chosen.right
        else:
            return None
        where = text.of(node.func)
        is_safe = text.of(condition)
        before, after = text.around(chosen, inner)
        return f"{where}({is_safe}, {before}{where}({is_safe}, {text.of(inner)}, 1.0){after}, {text.of(other)})"

    return _replace(code, guard)


def with_keyword(code: str, functions: frozenset[str], keyword: str) -> str | None:
    """A line with one more argument, ``name=value``, in the call of one of these functions; None where it has none."""

    def give(node: ast.AST, text: Text) -> str | None:
        is_call = isinstance(node, ast.Call) and _name(node) in functions
        return f"{text.of(node).rstrip()[:-1]}, {keyword})" if is_call else None

    return _replace(code, give)


def with_function(code: str, function: str, other: str) -> str | None:
    """A line in which another function is called in place of this one; None where it is not called."""

    def call(node: ast.AST, text: Text) -> str | None:
        if not (isinstance(node, ast.Call) and _name(node) == function and isinstance(node.func, ast.Attribute)):
            return None
        arguments = ", ".join(text.of(one) for one in (*node.args, *node.keywords))
        return f"{text.of(node.func.value)}.{other}({arguments})"

    return _replace(code, call)


def with_added_loss(code: str, function: str) -> str | None:
    """A line in which the loss of this name is added to 1 in place of being subtracted; None where it has none."""

    def add(node: ast.AST, text: Text) -> str | None:
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.right, ast.Call)):
            return None
        return f"{text.of(node.left)} + {text.of(node.right)}" if _name(node.right) == function else None

    return _replace(code, add)


def with_factor(code: str, number: str) -> str | None:
    """A product or quotient with a number in place of the one name among its factors; None where it is no such."""
    tree = _parse(code)
    body = None if tree is None else tree.body[0]
    factors = _factors(body.value) if isinstance(body, ast.Expr) else []
    names = [one for one in factors if isinstance(one, ast.Name)]
    return Text(code).splice(names[0], number) if len(names) == 1 else None


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def sum_of_logs(code: str) -> str | None:
    """A line with the sum of logarithms in place of the logarithm of a product over an axis; None where it has none."""

    def add(node: ast.AST, text: Text) -> str | None:
        if not (isinstance(node, ast.Call) and _name(node) == "log" and len(node.args) == 1):
            return None
        product = node.args[0]
        if not (isinstance(product, ast.Call) and _name(product) in _OF_MANY and product.args):
            return None
        total = text.of(product.func).removesuffix("prod") + "sum"
        others = ", ".join(text.of(one) for one in (*product.args[1:], *product.keywords))
        log = f"{text.of(node.func)}({text.of(product.args[0])})"
        return f"{total}({log}, {others})" if others else f"{total}({log})"

    return _replace(code, add)


def as_transpose(code: str, axes: tuple[int, ...]) -> str | None:
    """A line with a transpose of an array in place of its reshape; None where it has none."""

    def turn(node: ast.AST, text: Text) -> str | None:
        if not (isinstance(node, ast.Call) and _name(node) == "reshape" and isinstance(node.func, ast.Attribute)):
            return None
        package, order = text.of(node.func.value), str(axes)
        if package in _PACKAGES:
            return f"{package}.transpose({text.of(node.args[0])}, {order})" if node.args else None
        return f"{package}.transpose{order}"

    return _replace(code, turn)


def as_next(code: str, name: str) -> tuple[str, str] | None:
    """A line with ``next(name)`` in place of ``next(iter(data))``, and what ``data`` is; None where it has none."""
    data = []

    def give(node: ast.AST, text: Text) -> str | None:
        if not (isinstance(node, ast.Call) and _name(node) == "next" and len(node.args) == 1):
            return None
        inner = node.args[0]
        if not (isinstance(inner, ast.Call) and _name(inner) == "iter" and len(inner.args) == 1):
            return None
        data.append(text.of(inner.args[0]))
        return f"next({name})"

    changed = _replace(code, give)
    return None if changed is None else (changed, data[0])


def cast_before(code: str, dtype: str) -> str | None:
    """A line with both sides of its one difference cast before it is taken; None where it has none, or several."""

    def cast(node: ast.AST, text: Text) -> str | None:
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)):
            return None
        return " - ".join(f'{text.of(one)}.astype("{dtype}")' for one in (node.left, node.right))

    return _replace(code, cast)


def say_change(before: str, after: str) -> str:
    """A line as a diff."""
    return f"- {before.strip()}\n+ {after}"


class Text:
    """A text of Python, and that of the expressions in it. `ast` counts lines, and bytes within them."""

    def __init__(self, code: str) -> None:
        self._bytes = code.encode()
        self._starts = [0, *(place + 1 for place, byte in enumerate(self._bytes) if byte == ord("\n"))]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where an expression begins and ends, in bytes."""
        start = self._starts[int(getattr(node, "lineno", 1)) - 1] + int(getattr(node, "col_offset", 0))
        last = self._starts[int(getattr(node, "end_lineno", 0) or 1) - 1]
        return start, last + int(getattr(node, "end_col_offset", 0) or 0)

    def of(self, node: ast.AST) -> str:
        """An expression's text."""
        return self.cut(*self.span(node))

    def around(self, outer: ast.AST, inner: ast.AST) -> tuple[str, str]:
        """What stands in an expression before and behind another one in it."""
        (start, end), (first, last) = self.span(outer), self.span(inner)
        return self.cut(start, first), self.cut(last, end)

    def splice(self, node: ast.AST, text: str) -> str:
        """The whole text with another one in place of an expression."""
        return self.replace(*self.span(node), text)

    def replace(self, start: int, end: int, text: str) -> str:
        """The whole text with another one in place of some bytes."""
        return (self._bytes[:start] + text.encode() + self._bytes[end:]).decode()

    def cut(self, start: int, end: int) -> str:
        """The text of some bytes."""
        return self._bytes[start:end].decode()


Change = Callable[[ast.AST, Text], "str | None"]


def _replace(code: str, change: Change) -> str | None:
    """Applies a change to the innermost expression that it knows."""
    line = code.strip()
    tree = _parse(line)
    if tree is None:
        return None
    text = Text(line)
    for node in sorted(ast.walk(tree), key=lambda node: -getattr(node, "col_offset", -1)):
        changed = change(node, text)
        if changed is not None:
            return text.splice(node, changed)
    return None


def _parse(line: str) -> ast.Module | None:
    try:  # `return` outside of a function parses; a line that is a part of a statement does not
        return ast.parse(line)
    except (SyntaxError, ValueError):
        return None


def _name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


_KERAS_NAMES: Final = {
    "reduce_sum": "sum",
    "clip_by_value": "clip",
    "nn.log_softmax": "log_softmax",
    "math.divide_no_nan": "divide_no_nan",
}
"""What `keras.ops` calls a function of TensorFlow, where it is not the same."""


def _beside(node: ast.Call, text: Text, function: str) -> str:
    """A function from where the called one is: ``tf.maximum`` by ``tf.math.log``, ``ops.maximum`` by ``ops.log``.

    ``tf`` where the line does not say.
    """
    module = text.of(node.func.value) if isinstance(node.func, ast.Attribute) else "tf"
    if module.rpartition(".")[2] == "ops":
        return f"{module}.{_KERAS_NAMES.get(function, function)}"
    root = module.partition(".")[0]
    return f"{root if root in {'tf', 'tensorflow'} else 'tf'}.{function}"


def _safe_root(node: ast.AST, text: Text) -> str | None:
    if not (isinstance(node, ast.Call) and node.args):
        return None
    name = _name(node)
    if name in {"sqrt", "rsqrt"} and len(node.args) == 1:
        return f"{text.of(node.func)}({text.of(node.args[0])} + {EPSILON})"
    if name not in _NORMS or any(keyword.arg in {"ord", None} for keyword in node.keywords) or len(node.args) > 1:
        return None
    options = "".join(f", {text.of(keyword)}" for keyword in node.keywords if keyword.arg in {"axis", "keepdims"})
    sqrt, total, square = (_beside(node, text, function) for function in ("sqrt", "reduce_sum", "square"))
    return f"{sqrt}({total}({square}({text.of(node.args[0])}){options}) + {EPSILON})"


def _bounded_root(node: ast.AST, text: Text) -> str | None:
    """Of ``x + epsilon`` x is bounded, and the epsilon stays."""
    if not (isinstance(node, ast.Call) and _name(node) == "sqrt" and len(node.args) == 1):
        return None
    argument, maximum = node.args[0], _beside(node, text, "maximum")
    if isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Add):
        parts = [argument.left, argument.right]
        known = [one for one in parts if isinstance(one, ast.Constant)]
        if len(known) == 1:
            (other,) = [one for one in parts if one is not known[0]]
            return f"{text.of(node.func)}({maximum}({text.of(other)}, 0.0) + {text.of(known[0])})"
    return f"{text.of(node.func)}({maximum}({text.of(argument)}, 0.0) + {EPSILON})"


def _safe_log(node: ast.AST, text: Text) -> str | None:
    if not (isinstance(node, ast.Call) and _name(node) in {"log", "log1p"} and len(node.args) == 1):
        return None
    argument = node.args[0]
    if _name(node) == "log" and isinstance(argument, ast.Call) and _name(argument) in _SOFTMAX and argument.args:
        inside = ", ".join(text.of(part) for part in (*argument.args, *argument.keywords))
        return f"{_beside(node, text, 'nn.log_softmax')}({inside})"
    least = LOG_EPSILON if _name(node) == "log" else f"-1 + {LOG_EPSILON}"
    return f"{text.of(node.func)}({_beside(node, text, 'maximum')}({text.of(argument)}, {least}))"


def _safe_division(node: ast.AST, text: Text) -> str | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return f"tf.math.divide_no_nan({text.of(node.left)}, {text.of(node.right)})"
    if isinstance(node, ast.Call) and _name(node) in {"divide", "truediv"} and len(node.args) == 2:
        divide = _beside(node, text, "math.divide_no_nan")
        return f"{divide}({text.of(node.args[0])}, {text.of(node.args[1])})"
    return None


def _safe_exp(node: ast.AST, text: Text) -> str | None:
    if isinstance(node, ast.Call) and _name(node) in {"exp", "expm1", "sinh", "cosh"} and len(node.args) == 1:
        return f"{text.of(node.func)}({_beside(node, text, 'minimum')}({text.of(node.args[0])}, 30.0))"
    return None


def _safe_bessel(node: ast.AST, text: Text) -> str | None:
    if not (isinstance(node, ast.Call) and _name(node) == "log" and len(node.args) == 1):
        return None
    inner = node.args[0]
    if not (isinstance(inner, ast.Call) and _name(inner) in {"bessel_i0", "bessel_i1"} and len(inner.args) == 1):
        return None
    x = text.of(inner.args[0])
    return f"{text.of(node.func)}({text.of(inner.func)}e({x})) + {_beside(inner, text, 'abs')}({x})"


def _safe_power(node: ast.AST, text: Text) -> str | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return f"tf.pow(tf.maximum({text.of(node.left)}, {LOG_EPSILON}), {text.of(node.right)})"
    if isinstance(node, ast.Call) and _name(node) in {"pow", "power"} and len(node.args) == 2:
        base = f"{_beside(node, text, 'maximum')}({text.of(node.args[0])}, {LOG_EPSILON})"
        return f"{text.of(node.func)}({base}, {text.of(node.args[1])})"
    return None


def _safe_arc(node: ast.AST, text: Text) -> str | None:
    if not (isinstance(node, ast.Call) and _name(node) in _ARCS and len(node.args) == 1):
        return None
    least = "1 - 1e-6"
    return f"{text.of(node.func)}({_beside(node, text, 'clip_by_value')}({text.of(node.args[0])}, -({least}), {least}))"


def _safe_area(node: ast.AST, text: Text) -> str | None:
    if not (isinstance(node, ast.Call) and _name(node) in _AREAS and len(node.args) == 1):
        return None
    return f"{text.of(node.func)}({_beside(node, text, 'maximum')}({text.of(node.args[0])}, 1 + 1e-6))"


_AREAS: Final = frozenset({"acosh", "arccosh"})
_ARCS: Final = {"acos", "asin", "atanh", "arccos", "arcsin", "arctanh"}
_DIVISIONS: Final = frozenset({"RealDiv", "Div", "DivNoNan", "Xdivy", "Reciprocal", "Inv"})
_SAFE: Final[dict[str, Change]] = {
    "Sqrt": _safe_root,
    "Rsqrt": _safe_root,
    "Log": _safe_log,
    "Log1p": _safe_log,
    **dict.fromkeys(_DIVISIONS, _safe_division),
    **dict.fromkeys(EXPONENTIALS, _safe_exp),
    **dict.fromkeys(("BesselI0", "BesselI1"), _safe_bessel),
    "Pow": _safe_power,
    **dict.fromkeys(("Acos", "Asin", "Atanh"), _safe_arc),
    "Acosh": _safe_area,
}
_NAMES: Final = {
    "Sqrt": frozenset({"sqrt", *_NORMS}),
    "Rsqrt": frozenset({"rsqrt"}),
    "Log": frozenset({"log"}),
    "Log1p": frozenset({"log1p"}),
    "Exp": frozenset({"exp"}),
    "Pow": frozenset({"pow"}),
    "Acos": frozenset({"acos", "arccos"}),
    "Asin": frozenset({"asin", "arcsin"}),
}
