"""Data sets that are batched before they are shuffled, of rows that come in groups.

What is shuffled then are whole batches, and each holds the rows of a few groups: of one book, one patient, one day. The
gradient of a step is theirs, and in a loss that takes the others of a batch for wrong answers most of these are right.
Where each batch is one group, that is what was meant. Owns no state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gradwatch.origin import source_at
from gradwatch.slips.script.fed import calls_of_method, chain_of, trained_on

__all__ = ["find_bunched", "is_bunched"]

GROUPS_MIN: Final = 3
ROWS_MAX: Final = 1_000_000
"""Of a component that is looked at: a few milliseconds."""
RUNS_SHARE: Final = 1.05
"""Times as many runs of one value as there are values: rows that come in groups have one for each."""
FEW_SHARE: Final = 0.5
"""Of the groups that a batch of shuffled rows would hold rows of."""


def find_bunched(files: Sequence[str]) -> list[dict[str, Any]]:
    """The line that shuffles batches of rows that come in groups, in what the training is fed by.

    Args:
        files: the user's files that are looked at.

    Returns:
        One entry, type ``Data``, no name, no layer, the source line, and ``bunched``: how many groups a batch holds
        rows of, and how many it would of shuffled rows; none where there is no such line, or several may be meant.
    """
    for file in files:
        lines = calls_of_method(file, "shuffle")
        for data in trained_on(file) if len(lines) == 1 else ():
            if (found := _find(data)) is not None:
                source = source_at([(file, lines[0].func.end_lineno or lines[0].lineno)])
                return [{"type": "Data", "name": "", "layer": "", "source": source, "bunched": list(found)}]
    return []


def _find(data: Any) -> tuple[float, float] | None:
    """How many groups a batch holds rows of, and would; None where the rows do not come in groups."""
    chain = chain_of(data)
    kinds = [type(one).__name__ for one in chain]
    batch = max((place for place, kind in enumerate(kinds) if "Batch" in kind and "Un" not in kind), default=-1)
    shuffles = [place for place, kind in enumerate(kinds) if "Shuffle" in kind]
    if batch < 0 or not shuffles or max(shuffles) > batch or "TensorSlice" not in kinds[-1]:
        return None
    size = int(getattr(chain[batch], "_batch_size", 0))
    arrays = [one.numpy() for one in chain[-1]._tensors if one.shape.rank == 1 and one.shape[0] <= ROWS_MAX]
    return next(filter(None, (is_bunched(one, size) for one in arrays if one.dtype.kind in "iu")), None)


def is_bunched(values: npt.NDArray[Any], size: int) -> tuple[float, float] | None:
    """How many different values batches hold of rows in order, and of shuffled ones; None unless rows come in groups.

    Args:
        values: ``[n]`` whole numbers, one for each row.
        size: rows in a batch.
    """
    n_values = len(np.unique(values))
    n_runs = 1 + int(np.count_nonzero(values[1:] != values[:-1]))
    n_batches = len(values) // size if size > 1 else 0
    if n_values < GROUPS_MIN or n_runs > RUNS_SHARE * n_values or n_batches < GROUPS_MIN:
        return None
    rows = values[: n_batches * size].reshape(n_batches, size)
    held = 1 + np.count_nonzero(rows[:, 1:] != rows[:, :-1], axis=1)
    shuffled = n_values * (1 - (1 - 1 / n_values) ** size)
    is_meant = np.median(held) == 1
    return (float(held.mean()), float(shuffled)) if not is_meant and held.mean() <= FEW_SHARE * shuffled else None
