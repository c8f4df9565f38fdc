"""Operations in words: what they are called, where they stand, and what was wrong with their input."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import PureWindowsPath
from typing import Any, Final

from gradwatch_server.health.operation import Account
from gradwatch_server.health.operation_table import EXPONENTIALS, Operation
from gradwatch_server.health.verdict.spelling import say_count, say_number

__all__ = [
    "ARITHMETIC",
    "CONTAINERS",
    "DIVISIONS",
    "MEANS",
    "PRODUCTS",
    "SQUARES",
    "SUMS",
    "describe_account",
    "is_arithmetic",
    "is_exact",
    "is_fed_infinity",
    "is_norm",
    "name_operation",
    "operation_evidence",
    "say_exactly",
    "say_line",
    "say_link",
    "say_noun",
    "say_operation",
    "say_place",
    "say_source",
    "say_trouble",
]

DIVISIONS: Final = frozenset({"RealDiv", "Div", "DivNoNan", "Xdivy", "Reciprocal", "Inv"})

PRODUCTS: Final = frozenset(
    {
        "MatMul",
        "BatchMatMul",
        "BatchMatMulV2",
        "BatchMatMulV3",
        "Einsum",
        "Conv2D",
        "Conv3D",
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        "Conv3DBackpropInputV2",
        "Conv3DBackpropFilterV2",
        "DepthwiseConv2dNative",
        "DepthwiseConv2dNativeBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter",
    }
)
SUMS: Final = frozenset({"Add", "AddV2", "AddN", "Sub", "BiasAdd", "BiasAddGrad", "Sum", "Cumsum"})
MEANS: Final = frozenset({"Mean", "AvgPool", "AvgPool3D"})
SQUARES: Final = frozenset({"Square", "SquaredDifference", "L2Loss"})
ARITHMETIC: Final = PRODUCTS | SUMS | MEANS | SQUARES | {"Mul", "MulNoNan", "Cast", "Max", "Min", "Prod"}
"""Operations without a singular point, which break by overflow, by 0 * Inf and Inf - Inf, or on nothing."""

_NOUNS: Final = {
    **dict.fromkeys(PRODUCTS, "matrix product"),
    **{name: "convolution" for name in PRODUCTS if "Conv" in name},
    **dict.fromkeys(SUMS, "sum"),
    **dict.fromkeys(MEANS, "mean"),
    **dict.fromkeys(SQUARES, "square"),
    "Sub": "difference",
    "Mul": "product",
    "MulNoNan": "product",
    "Prod": "product",
    "Cast": "type conversion",
    "Max": "maximum",
    "Min": "minimum",
    "Sqrt": "square root",
    "Rsqrt": "reciprocal square root",
    "Log": "logarithm",
    "Log1p": "logarithm log1p",
    "Xlogy": "x log y",
    "Exp": "exponential",
    "Expm1": "exponential",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "BesselI0": "Bessel function I0",
    "BesselI1": "Bessel function I1",
    "Pow": "power",
    **dict.fromkeys(("Softmax", "LogSoftmax"), "softmax"),
    "Acos": "arc cosine",
    "Asin": "arc sine",
    "Atanh": "inverse hyperbolic tangent atanh",
    "Acosh": "inverse hyperbolic cosine acosh",
    "Atan2": "arc tangent atan2",
    **dict.fromkeys(DIVISIONS, "division"),
    **dict.fromkeys(("While", "StatelessWhile"), "loop"),
    **dict.fromkeys(("If", "StatelessIf"), "branch of a condition"),
    **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall"), "called function"),
}
CONTAINERS: Final = frozenset(
    {"While", "StatelessWhile", "If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall"}
)
_EXACT: Final = {
    "Log1p": "of exactly -1",
    "Xlogy": "with y exactly 0",
    "Acos": "at or beyond ±1",
    "Asin": "at or beyond ±1",
    "Atanh": "at or beyond ±1",
    "Acosh": "at or below 1",
    "Atan2": "of exactly (0, 0)",
    **dict.fromkeys(EXPONENTIALS, "that overflows"),
    **dict.fromkeys(DIVISIONS, "by exactly 0"),
}
_OUTSIDE: Final = {
    **dict.fromkeys(("Softmax", "LogSoftmax"), "of infinite scores"),
    "Sqrt": "of a negative number",
    "Rsqrt": "of a negative number",
    "Log": "of a negative number",
    "Log1p": "of a number below -1",
    "Pow": "of a negative number, or too large",
    **dict.fromkeys(DIVISIONS, "by a number so small that it overflows"),
}
_NORM: Final = re.compile(r"\b(\w*norm|normalize)\s*\(")


def is_norm(operation: Operation) -> bool:
    """Whether a square root is that of a norm, by the user's line or by its name in the graph."""
    code = operation.code
    name = operation.forward_name or operation.name
    return operation.function == "Sqrt" and (bool(_NORM.search(code)) or "norm" in name.split("/")[-2:])


def is_arithmetic(operation: Operation) -> bool:
    """Whether the user wrote plain arithmetic: it has no singular point."""
    return operation.function in ARITHMETIC


def is_fed_infinity(account: Account) -> bool:
    """Whether its input was infinite already: 0 * Inf and Inf - Inf are NaN."""
    return account.numbers.get("n_nonfinite_in", 0.0) > 0


def is_exact(account: Account) -> bool:
    """Whether inputs were exactly at the singular point."""
    return account.numbers.get("n_singular", 0.0) > 0


def say_exactly(operation: Operation) -> str:
    """Where its inputs were that stood at its singular point: "exactly 0", "at or beyond ±1"."""
    phrase = _EXACT.get(operation.function, "of exactly 0")
    return phrase if phrase.startswith("at ") else "too large" if phrase == "that overflows" else _exactly(phrase)


def _exactly(phrase: str) -> str:
    return phrase[phrase.index("exactly") :]


def name_operation(operation: Operation) -> dict[str, str]:
    """The operation as a finding's field has it."""
    return {"type": operation.type, "name": operation.name}


def say_operation(operation: Operation) -> str:
    """``SqrtGrad, the slope of the Sqrt in unit/norm``; of what holds operations what it is, ``the loop (While)``."""
    if operation.is_gradient and operation.type in CONTAINERS:
        return f"the backward pass of the {say_noun(operation)} ({operation.type})"
    if operation.is_gradient and operation.forward_type:
        scope = (operation.forward_name or "").rpartition("/")[0]
        return f"{operation.type}, the slope of the {operation.forward_type}" + (f" in {scope}" if scope else "")
    scope = operation.name.rpartition("/")[0]
    name = f"the {say_noun(operation)} ({operation.type})" if operation.type in CONTAINERS else operation.type
    return name + (f" in {scope}" if scope else "")


def say_noun(operation: Operation) -> str:
    """``square root``."""
    return _NOUNS.get(operation.function, operation.function)


def say_place(operation: Operation) -> str:
    """`` in `unit` (train.py:47)``, as far as known."""
    place = f" in `{operation.layer}`" if operation.layer else ""
    return place + say_line(operation.source)


def say_source(source: Mapping[str, Any]) -> str:
    """``train.py:47``, or the file alone where the line is not known."""
    # Written on the training's machine, which may be of another kind than ours: both slashes part a path.
    file, line = PureWindowsPath(str(source.get("file") or "")).name, source.get("line")
    return f"{file}:{line}" if line is not None else file


def say_line(source: Mapping[str, Any] | None) -> str:
    """`` (train.py:47)``; empty where it is not known."""
    return f" ({say_source(source)})" if source else ""


def say_link(account: Account) -> dict[str, Any] | None:
    """The culprit as a link in the order of onset, or None where there is no culprit."""
    operation = account.culprit
    if operation is None:
        return None
    return {
        "what": operation.type + say_place(operation).replace("`", ""),
        "step": account.step,
        "n": int(account.numbers["n_nonfinite"]),
    }


def say_trouble(account: Account, operation: Operation) -> str:
    """``square root of exactly 0``: what was wrong with the input."""
    function = operation.function
    noun = say_noun(operation)
    if is_arithmetic(operation):
        return _say_arithmetic(account, operation, noun)
    if function in CONTAINERS:
        only = f", {say_noun(operation.inside[0])}" if len(operation.inside) == 1 else ""
        return f"inside a {noun}{only}" + (", in its gradient" if operation.is_gradient else "")
    if is_exact(account):
        if function in {"Acos", "Asin", "Atanh"} and operation.is_gradient and account.numbers["margin"] == 0:
            return f"{noun} of exactly ±1"
        return f"{noun} {_EXACT.get(function, 'of exactly 0')}"
    if operation.is_gradient:
        return f"slope of {'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    trouble = _OUTSIDE.get(function, "of finite inputs")
    if function in _OUTSIDE and not math.isfinite(account.numbers.get("n_in", math.nan)):  # its input is not known
        trouble = f"{_EXACT.get(function, 'of exactly 0')}, or {trouble}"
    return f"{noun} {trouble}"


def _say_arithmetic(account: Account, operation: Operation, noun: str) -> str:
    if is_fed_infinity(account):
        return "Inf minus Inf" if operation.function in SUMS else "0 times Inf"
    of = f"{noun} of the backward pass" if operation.is_gradient else noun
    if operation.function in MEANS | {"Max", "Min"}:
        return f"{of} of finite numbers, or of none"
    return f"{of} that overflows" + (f" {account.dtype}" if account.dtype == "float16" else "")


def describe_account(account: Account) -> str:
    """One sentence on where the non-finite values came from, without more certainty than the record gives."""
    operation = account.culprit
    if operation is None:
        return _describe_carrier(account)
    numbers = account.numbers
    text = f"The first operation to break was {say_operation(operation)}"
    n_in_broken = numbers["n_nonfinite_in"]
    text += f": {say_count(numbers['n_nonfinite'], 'value')} of its output NaN or infinite"
    if n_in_broken > 0:
        text += f", and {say_count(n_in_broken, 'value')} of its input infinite"
    elif math.isfinite(numbers.get("n_in", math.nan)):
        text += ", and all of its input finite"
    n_singular, n_in = numbers["n_singular"], numbers["n_in"]
    if n_singular > 0:
        what = _say_singular(operation, int(n_singular), numbers["margin"])
        text += f"; {int(n_singular):,} of {say_count(n_in, 'input')} {what}"
    elif math.isfinite(numbers["margin"]) and not (operation.function in _OUTSIDE and not operation.is_gradient):
        text += f"; its input came within {say_number(numbers['margin'])} of the point where it breaks"
    text += "."
    if account.also is not None:
        text += f" So did {say_operation(account.also)}."
    return text


def _say_singular(operation: Operation, n: int, margin: float) -> str:
    if operation.function in EXPONENTIALS:
        return "lay above the largest value that it can take"
    if operation.function in {"Acos", "Asin", "Atanh", "Acosh"} and margin < 0:
        return "lay at or beyond the point where it breaks"
    return f"{'was' if n == 1 else 'were'} {say_exactly(operation)}"


def _describe_carrier(account: Account) -> str:
    operation = account.carrier
    if operation is None:
        return (
            f"No NaN or infinite value was seen in the {say_count(account.n_seen, 'risky operation')} that were "
            "looked at."
        )
    pass_ = "backward" if operation.is_gradient else "forward"
    return (
        f"Of the operations looked at, {say_operation(operation)} was the first with NaN or infinite values, but its "
        f"input held them already. They came into the {pass_} pass earlier, "
        + (
            "from an operation that is not looked at."
            if operation.is_gradient
            else "from the inputs, the weights or an operation that is not looked at."
        )
    )


def operation_evidence(account: Account) -> dict[str, Any]:
    """The numbers that the verdict on an operation looked at."""
    named = account.culprit or account.carrier
    if named is None:
        return {"operation_step": account.step, "n_operations": account.n_seen, "n_operations_broken": 0}
    numbers: Mapping[str, float] = account.numbers
    evidence: dict[str, Any] = {
        "operation_step": account.step,
        "operation_is_origin": account.culprit is not None,
        "n_operations": account.n_seen,
        "n_operations_broken": account.n_broken,
        "n_outputs_nonfinite": numbers["n_nonfinite"],
        "n_singular": numbers["n_singular"],
        "n_inputs": numbers["n_in"],
        "margin": numbers["margin"],
        "amplification": numbers["amplification"],
    }
    if account.origin is not None:
        names = ("type", "name", "layer", "is_gradient", "n_nonfinite")
        evidence["chain_operations"] = [{name: link.get(name) for name in names} for link in account.origin.chain]
    if named.forward_type:
        evidence["forward_operation"] = f"{named.forward_type} {named.forward_name}"
    return evidence
