"""Data sets that are batched before they are shuffled, of rows that come in groups, are found; others are not."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from gradwatch.slips.script import bunched
from gradwatch.slips.script.bunched import find_bunched, is_bunched

RANDOM = np.random.default_rng(0)
BOOKS = np.repeat(np.arange(60), RANDOM.integers(15, 25, 60))


@pytest.fixture
def find(monkeypatch, tmp_path):
    def of(data, text="data = data.batch(64).shuffle(99)\n"):
        path = tmp_path / "loans.py"
        path.write_text("\n" + text)
        monkeypatch.setattr(bunched, "trained_on", lambda file: [data])
        return [(one["source"]["line"], one["bunched"]) for one in find_bunched([str(path)])]

    return of


def rows_of(books):
    readers = RANDOM.integers(0, 500, len(books)).astype("int32")
    return tf.data.Dataset.from_tensor_slices((readers, books.astype("int32")))


@pytest.mark.parametrize("order", [np.arange(len(BOOKS)), np.arange(len(BOOKS))[::-1]], ids=["rising", "falling"])
def test_batches_of_few_books(find, order):
    ((line, (held, shuffled)),) = find(rows_of(BOOKS[order]).batch(64, drop_remainder=True).shuffle(99).prefetch(1))
    assert line == 2
    assert 3.5 < held < 5.5
    assert 35 < shuffled < 45


@pytest.mark.parametrize(
    "make",
    [
        lambda: rows_of(BOOKS).shuffle(2_000).batch(64).shuffle(9),
        lambda: rows_of(BOOKS).shuffle(2_000).batch(64),
        lambda: rows_of(BOOKS).batch(64),  # in order on purpose, or not: nothing says that it should be shuffled
        lambda: rows_of(RANDOM.permutation(BOOKS)).batch(64).shuffle(99),
        lambda: rows_of(np.repeat(np.arange(60), 64)).batch(64).shuffle(99),  # a group a batch
        lambda: rows_of(np.arange(1_200)).batch(64).shuffle(99),  # times of a series
        lambda: rows_of(np.sort(RANDOM.integers(0, 2, 1_200))).batch(64).shuffle(99),
        lambda: rows_of(np.tile(np.repeat(np.arange(20), 3), 20)).batch(64).shuffle(99),  # the same day, each week
        lambda: tf.data.Dataset.range(900).batch(64).shuffle(9),
    ],
)
def test_batches_of_other_rows(find, make):
    assert find(make()) == []


def test_several_lines_that_may_be_meant(find):
    data = rows_of(BOOKS).batch(64).shuffle(99)
    assert find(data, "a = a.shuffle(9)\nb = b.batch(64).shuffle(9)\n") == []


def test_a_batch_that_holds_half_of_what_it_could():
    assert is_bunched(np.repeat(np.arange(400), 2), 16) is None
    assert is_bunched(np.repeat(np.arange(100), 4), 16) is not None
