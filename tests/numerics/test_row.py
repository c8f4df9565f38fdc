"""A row of the ring, taken apart: what was measured stays as it is, what was glanced at is made of half squares."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch.protocol import OPERATION_STATISTICS, STATISTICS
from gradwatch.row import N_LOSSES_MAX, Layout

N = len(STATISTICS)
LAYOUT = Layout(sizes=(6, 20), n_weights=3, n_taps=4, seen_taps=(0, 2), n_operations=2, n_first=3, n_compared=2)
NAN = np.float32(np.nan)


def row(rng, *, half_squares, measured):
    """A row, and what lies in it by name; ``measured``: the places in the table that the step looked at closely."""
    table = np.full((2 + 3 + 4, N), NAN, np.float32)
    table[measured] = rng.normal(size=(len(measured), N))
    parts = {
        "operations": rng.normal(size=2 * len(OPERATION_STATISTICS)),
        "compared": np.array([0.5, NAN]),
        "first": rng.normal(size=3),
        "flags": np.array([1, 0, 1]),
        "losses": rng.normal(size=N_LOSSES_MAX),
        "sizes": np.array([64, 128]),
    }
    order = [table[:2], table[5:], parts["operations"], parts["compared"], table[2:5], parts["first"], parts["flags"]]
    numbers = [*order, half_squares, parts["losses"], parts["sizes"]]
    return np.concatenate([np.ravel(one) for one in numbers]).astype(np.float32)[None], table, parts


def test_what_was_looked_at_closely_stays_as_it_is():
    values, table, parts = row(np.random.default_rng(0), half_squares=[1, 2, 3, 4], measured=range(9))
    assert values.shape == (1, LAYOUT.width)
    taken = LAYOUT.take_apart(values)
    np.testing.assert_array_equal(taken.statistics[0], table)
    np.testing.assert_array_equal(taken.operations[0], parts["operations"].astype(np.float32))
    np.testing.assert_array_equal(taken.scalars[0], np.float32([*parts["first"], 0.5, 0]))
    np.testing.assert_array_equal(taken.present[0], [1, 0, 1, 1, 0])


def test_what_was_glanced_at_has_its_norm_its_size_and_no_element_that_is_not_finite():
    rng = np.random.default_rng(1)
    gradients = [rng.normal(size=6), rng.normal(size=20) * 1e-9]
    inputs = [rng.normal(size=64), rng.normal(size=128) * 1e6]
    tensors = [one.astype(np.float32) for one in (*gradients, *inputs)]
    half_squares = [np.square(one.astype(np.float64)).sum() / 2 for one in tensors]
    values, _, _ = row(rng, half_squares=half_squares, measured=[])
    rows = LAYOUT.take_apart(values).statistics[0]
    for place, tensor in zip((0, 1, 5, 7), tensors, strict=True):
        known = dict(zip(STATISTICS, rows[place], strict=True))
        assert known["norm"] == pytest.approx(np.linalg.norm(tensor.astype(np.float64)), rel=1e-6)
        assert (known["n_nan"], known["n_pos_inf"], known["n_neg_inf"]) == (0, 0, 0)
        assert known["n_elements"] == tensor.size
        assert all(np.isnan(known[name]) for name in ("min", "max", "mean", "std", "n_zero"))
    assert np.isnan(rows[[2, 3, 4, 6, 8]]).all()


def test_no_row_at_all():
    taken = LAYOUT.take_apart(np.zeros((0, LAYOUT.width), np.float32))
    assert [one.shape for one in taken] == [(0, 9, N), (0, 2 * len(OPERATION_STATISTICS)), (0, 5), (0, 5)]


def test_a_tensor_that_there_is_not_stays_unknown():
    values, _, _ = row(np.random.default_rng(2), half_squares=[1, NAN, NAN, 2], measured=[])
    rows = LAYOUT.take_apart(values).statistics[0]
    assert np.isnan(rows[[1, 5]]).all()
    assert not np.isnan(rows[[0, 7], STATISTICS.index("norm")]).any()
