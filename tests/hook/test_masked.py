"""A word of number 0 that is masked as padding is told; padding, and what 0 stands for on purpose, are not."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import layers

from gradwatch.protocol import ALIKE_PLACE, MASKED_PLACE
from gradwatch.slips.graph import masked
from gradwatch.slips.graph.masked import _may_empty, _tables_from_zero
from tests.hook.diagnosis import diagnose, known_in
from tests.hook.test_paired import places_in

CAPTURE = ("gradient", "input", "operation")
pytestmark = pytest.mark.rows
N, LENGTH, N_WORDS = 32, 12, 20
RANDOM = np.random.default_rng(0)
LINES = "words = {w: i for i, w in enumerate(names)}\nlayers.Embedding(len(words), 4, mask_zero=True)"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Lets the user's file be one of these lines."""

    def write(text: str) -> None:
        path = tmp_path / "numbered.py"
        path.write_text(text)
        monkeypatch.setattr(masked, "_tables_from_zero", lambda files: _tables_from_zero([str(path)]))

    return write


def words(lowest: int = 0, *, front: int = 0, end: int = 0) -> Any:
    found = RANDOM.integers(lowest, N_WORDS, (N, LENGTH)).astype("int32")
    found[:, :front] = 0
    found[:, LENGTH - end :] = 0
    return found


def reader(*over: Any, mask_zero: bool = True) -> Any:
    table = layers.Embedding(N_WORDS, 4, mask_zero=mask_zero, name="table")
    return keras.Sequential([keras.Input((LENGTH,), dtype="int32"), table, *over, layers.Dense(1)])


class ByHand(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.head = layers.Embedding(N_WORDS, 4), layers.Dense(1)

    def call(self, x: Any) -> Any:
        mask = tf.cast(x != 0, tf.float32)[..., None]  # mask
        return self.head(tf.reduce_sum(self.table(x) * mask, axis=1))


def train(watch: Any, model: Any, x: Any, *, epochs: int = 2, **options: Any) -> Any:
    model.compile("sgd", "mse", **options)
    begun = watch(model, budget=0)
    y = RANDOM.normal(size=(len(x), 1)).astype("float32")
    model.fit(x, y, batch_size=N, epochs=epochs, verbose=0)
    return begun


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("over", [layers.GRU(3), layers.GlobalAveragePooling1D()], ids=["gru", "mean"])
def test_a_word_among_others(watch: Any, read: Any, lines: Any, over: Any, jit: bool) -> None:
    lines(LINES)
    recording = read(train(watch, reader(type(over).from_config(over.get_config())), words(end=3), jit_compile=jit))
    (slip,) = known_in(recording, "omits")
    assert (slip["omits"], slip["source"]["line"]) == ("Embedding", 2)
    assert places_in(recording) == {MASKED_PLACE}


def test_a_mask_by_hand(watch: Any, read: Any, lines: Any) -> None:
    lines(LINES.replace(", mask_zero=True", ""))
    recording = read(train(watch, ByHand(), words()))
    (slip,) = known_in(recording, "omits")
    assert slip["omits"] == "x != 0"
    assert slip["source"]["code"].endswith("# mask")
    assert places_in(recording) == {MASKED_PLACE}


def joined() -> Any:
    """Two sequences, each with its padding, in a row."""
    found = words(1, end=4)
    found[:, 3:6] = 0
    return found


@pytest.mark.parametrize(
    "x",
    [
        pytest.param(words(1, end=4), id="at the end"),
        pytest.param(words(1, front=4), id="at the front"),
        pytest.param(words(1), id="none"),
        pytest.param(words() * 0, id="all"),
        pytest.param(joined(), id="joined"),
        pytest.param(np.where(np.arange(N)[:, None] < 2, words(), words(1)), id="of hardly any"),
    ],
)
def test_padding(watch: Any, read: Any, lines: Any, x: Any) -> None:
    lines(LINES)
    recording = read(train(watch, reader(layers.GRU(3)), x))
    assert known_in(recording, "omits")
    assert places_in(recording) == {0 if x.any() else ALIKE_PLACE}


@pytest.mark.filterwarnings("ignore:Layer 'flatten")
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(lambda: reader(layers.GRU(3), mask_zero=False), id="no mask"),
        pytest.param(lambda: reader(layers.Flatten()), id="a mask that nothing reads"),
    ],
)
def test_where_nothing_masks(watch: Any, read: Any, lines: Any, model: Any) -> None:
    lines(LINES)
    recording = read(train(watch, model(), words()))
    assert known_in(recording, "omits") == []
    assert places_in(recording) <= {0}


TABLE = "layers.Embedding(N, 4, mask_zero=True)"
LONGER = LINES.replace("len(words)", "len(words) + 1")
BUILT = "def build(n):\n    return layers.Embedding(n, 4, mask_zero=True)"
BASES = 'index = {base: i for i, base in enumerate("ACGT")}'
COUNTED = "w = {c: i for i, c in enumerate(text)}"


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        (LINES, True),
        ("n = len(names)\nindex = {c: i for i, c in enumerate(names)}\nEmbedding(input_dim=n, mask_zero=True)", True),
        ("index = {c: k for k, c in enumerate(sorted(set(text)))}\nEmbedding(len(index) + 1, 8, mask_zero=True)", True),
        (f"{BASES}\nn = rng.integers(20, LENGTH + 1)\nEmbedding(max(index.values()) + 1, 8, mask_zero=True)", True),
        (f"{BASES}\nx = ids + 1\nEmbedding(max(index.values()) + 1, 8, mask_zero=True)", True),
        (f"{BASES}\nn = rng.integers(20, LENGTH + 1)\nEmbedding(len(index) + 1, 8, mask_zero=True)", True),
        (f"{BASES}\nx = ids + 1\nEmbedding(len(index) + 1, 8, mask_zero=True)", False),
        (f"x = rng.integers(0, N, (9, 5))\n{TABLE}", True),
        (f"x = np.random.randint(N, size=(9, 5))\n{TABLE}", True),
        (f"x = rng.integers(1, N, (9, 5))\n{TABLE}", False),
        (f"x = rng.integers(N - 1, size=(9, 5)) + 1\n{TABLE}", False),
        (f"{BUILT}\nbuild(len(w))\n{COUNTED}", True),
        (f"{BUILT}\nsize = len(w)\nbuild(n=size)\n{COUNTED}", True),
        (f"{BUILT}\nbuild(len(v))\n{COUNTED}", False),
        (LINES.replace("(names)", "(names, 1)"), False),
        (LINES.replace("(names)", "(names, start=1)"), False),
        (LINES.replace(": i for", ": i + 1 for"), False),
        (
            "index = {c: k for k, (c, n) in enumerate(counts.most_common())}\nEmbedding(len(index), 8, mask_zero=True)",
            True,
        ),
        (
            "index = {c: n for k, (c, n) in enumerate(counts.most_common())}\nEmbedding(len(index), 8, mask_zero=True)",
            False,
        ),
        (f"seed = int(os.environ.get('SEED', 0))\n{COUNTED}\nEmbedding(len(w), 8, mask_zero=True)", True),
        (f"classes = {{c: i for i, c in enumerate(labels)}}\n{TABLE}", False),
        (f"{LINES}\nx = [words.get(one, 0) for one in text]", False),
        (f"names = ['<unk>', *names]\n{LINES}", False),
        (f"{LINES}\nx = np.where(rng.random(x.shape) < 0.1, 0, x)", False),
        (f"{LINES}\nx[rng.random(x.shape) < 0.1] = 0", False),
        (f"{LINES}\nx[i, n:] = 0", True),
        (f"{LINES}\nx = [words[one] if one in words else 0 for one in text]", False),
        (f"{LINES}\nmodel.fit(x, verbose=2 if shown else 0)", True),
        (f"{LINES}\nx = [words[one] + 1 for one in text]", True),  # of no row, by the size of the table
        (f"{LONGER}\nx = [words[one] for one in text]", True),
        (f"{LONGER}\nx = [words[one] + 1 for one in text]", False),
        (f"{LONGER}\nx += 1", False),
        (f"{LINES}\n{TABLE}", False),
    ],
)
def test_lines(tmp_path: Path, text: str, is_told: bool) -> None:
    path = tmp_path / f"numbered_{abs(hash(text))}.py"
    path.write_text(text)
    assert bool(list(_tables_from_zero([str(path)]))) is is_told


def test_a_word_of_text_is_no_mark() -> None:
    assert not _may_empty(ast.Constant("unmasked"))
    assert _may_empty(ast.Constant("[PAD]"))


def test_it_is_told_with_its_line(watch: Any, read: Any, lines: Any) -> None:
    lines(LINES)
    (found,) = [
        one
        for one in diagnose(read(train(watch, reader(layers.GRU(3)), words(), epochs=15))).findings()
        if one.title.startswith("Word 0 is masked")
    ]
    assert found.source["line"] == 2
    assert found.hypotheses[0].cause.startswith("The vocabulary begins at 0, and 0 is masked")
