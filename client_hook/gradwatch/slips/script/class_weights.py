"""Class weights of `fit` that favour the commonest label, or are given to other labels. Trains nothing, no state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import running_fit
from gradwatch.slips.script.fed import data_slip

__all__ = ["find_class_weights"]

CLASSES_MIN: Final = 3
"""Of two, the weights and labels of the batches tell."""
TABLE_RANK: Final = 2
LABELS_MAX: Final = 10_000_000
"""Numbers that labels are: more are not counted."""
COUNT_SLACK: Final = 1.2
"""Between what weights are of the labels' counts: some of the samples may be kept for the validation."""
UNEVEN: Final = 1.5
DISORDERED: Final = 2.0
"""Between the largest and the smallest product of weight and count, where each weight is another label's."""


def find_class_weights() -> list[dict[str, Any]]:
    """Class weights of the running `fit`, three and more, that are given to the wrong labels.

    Returns:
        Type (``Data``), no name, no layer, the source line of the `fit`, and ``favours``, ``favoured``, ``rare`` and
        ``rarely``: of weights that grow with how often a label occurs, the commonest label and its weight, and the
        rarest and its, or, with ``due`` (a weight), of balanced weights that are given to other labels, the one with
        most too much, and what it is due, and the one with least.
    """
    with tf.init_scope():  # a step may be under way, or being traced
        found = _counted()
    return [] if found is None else [found]


def _counted() -> dict[str, Any] | None:
    fit = running_fit()
    weights = None if fit is None else fit.known.get("class_weight")
    if fit is None or weights is None or not fit.file:
        return None
    counts = _counts_of(weights, fit.known.get("y"))
    due = _due_of(weights, counts)
    ends = due or _ends_of(weights, counts)
    if ends is None:
        return None
    common, rare = ends
    known = {"favoured": float(weights[common]), "rarely": float(weights[rare])}
    if due is not None:
        place = sorted(counts, key=lambda one: -counts[one]).index(common)
        known["due"] = float(sorted(weights.values())[place])
    return data_slip(fit.file, fit.line, "", favours=str(common), rare=str(rare), **known)


def _counts_of(weights: Any, labels: Any) -> dict[int, int]:
    """How often each label that has a weight occurs; of none where that is not known, or one never does."""
    size = math.prod(labels.shape) if isinstance(labels, (np.ndarray, tf.Tensor)) else 0
    if not isinstance(weights, Mapping) or len(weights) < CLASSES_MIN or not 0 < size <= LABELS_MAX:
        return {}
    array: Any = np.asarray(labels)
    if array.ndim == TABLE_RANK:
        array = array[:, 0] if array.shape[1] == 1 else array.argmax(axis=1)
    if array.ndim != 1:
        return {}
    held, numbers = np.unique(array, return_counts=True)
    of = dict(zip(held.tolist(), numbers.tolist(), strict=True))
    counts = {label: int(of.get(label, 0)) for label in weights}
    return counts if min(counts.values()) > 0 else {}


def _ends_of(weights: Any, counts: Mapping[int, int]) -> tuple[int, int] | None:
    """The commonest label and the rarest, where each label's weight is its share, times a number; None elsewhere."""
    if not counts:
        return None
    common, rare = max(counts, key=lambda one: counts[one]), min(counts, key=lambda one: counts[one])
    is_so = _are_equal([float(weights[one]) / n for one, n in counts.items()])
    is_given = _are_short(weights) and weights[common] != counts[common] and not math.isclose(sum(weights.values()), 1)
    return (common, rare) if is_so and not is_given and counts[common] >= UNEVEN * counts[rare] else None


def _due_of(weights: Any, counts: Mapping[int, int]) -> tuple[int, int] | None:
    """The labels with most and least too much weight, where the weights are balanced, each for another label's count.

    None elsewhere.
    """
    if not counts or _are_short(weights):
        return None
    given = {one: float(weights[one]) * n for one, n in counts.items()}
    falling = sorted(counts.values(), reverse=True)
    balanced = [float(one) * n for one, n in zip(sorted(weights.values()), falling, strict=True)]
    most, least = max(given, key=lambda one: given[one]), min(given, key=lambda one: given[one])
    return (most, least) if _are_equal(balanced) and given[most] >= DISORDERED * given[least] else None


def _are_equal(numbers: Sequence[float]) -> bool:
    return 0 < max(numbers) <= COUNT_SLACK * min(numbers)


def _are_short(weights: Mapping[Any, Any]) -> bool:
    """Whether weights are short numbers: these are someone's own, for what an error costs."""
    return all(round(float(one), 1) == float(one) for one in weights.values())
