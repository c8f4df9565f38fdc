"""Arrays that are changed by a second name and fed by both: told with the line, copies are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradwatch.slips.script.aliased import find_aliased

MASKED = """
def masked(tokens):
    {line}
    chosen = rng.random(tokens.shape) < 0.15
    tokens[chosen] = MASK
    return {returned}
"""


@pytest.fixture
def find(tmp_path: Path) -> Callable[[str], list[tuple[str, str]]]:
    def read(text: str) -> list[tuple[str, str]]:
        path = tmp_path / "train.py"
        path.write_text(text)
        return [(one["name"], one["aliased"]) for one in find_aliased([str(path)])]

    return read


@pytest.mark.parametrize(
    ("line", "returned", "is_told"),
    [
        ("labels = tokens", "tokens, labels", True),
        ("labels = tokens.copy()", "tokens, labels", False),
        ("labels = tokens", "tokens", False),
        ("labels = tokens\n    tokens = tokens.copy()", "tokens, labels", False),
        ("tokens = tokens.copy()\n    labels = tokens", "tokens, labels", True),
        ("labels = tokens", "labels, other", False),
    ],
)
def test_labels_that_are_masked_with_their_inputs(find: Any, line: str, returned: str, is_told: bool) -> None:
    assert find(MASKED.format(line=line, returned=returned)) == ([("labels", "tokens")] if is_told else [])


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("x = np.load('x')\ny = x\ny[y > 3] = 0\nmodel.fit(x, y)", True),
        ("x = np.load('x')\ny = x\ny[:, 3] += 1\ndata = from_tensor_slices((x, y))", True),
        ("x = np.load('x')\ny = x\nmodel.fit(x, y)", False),
        ("x = np.load('x')\ny = x\nx[np.isnan(x)] = 0\nmodel.fit(x, y)", False),
        ("x = np.load('x')\ny = x\nx[:] /= 255.0\nmodel.fit(x, y)", False),
        ("x = np.load('x')\ny = x\nx[:, :] = (x[:, :] - m) / s\nmodel.fit(x, y)", False),
        ("x = np.load('x')\ny = x\ny[y > 3] = 0\nprint(x, y)", False),
        ("x = dict(a)\ny = x\ny[key] = 0\nmodel.fit(x, y)", False),
        ("x = np.load('x')\nx[x > 3] = 0\ny = x\nmodel.fit(x, y)", False),
    ],
)
def test_arrays_of_a_script(find: Any, text: str, is_told: bool) -> None:
    assert find(text) == ([("y", "x")] if is_told else [])


SWAPPED = """
def mix(x, size):
    while True:
        batch, other = next(rows(x, size)), next(rows(x, size))
        noisy = {made}
        for i in range(size):
            noisy[{item}] = other[{item}]
        yield {given}
"""


@pytest.mark.parametrize(
    ("made", "item", "given", "is_told"),
    [
        ("batch", "i, swap", "(noisy, batch)", True),
        ("batch", "i, swap", "noisy, batch", True),
        ("batch.copy()", "i, swap", "noisy, batch", False),
        ("batch", "i, swap", "noisy, other", False),
        ("batch", "i", "noisy, batch", False),
    ],
    ids=["swap noise", "without brackets", "a copy", "of another one", "a list, for all that is known"],
)
def test_noise_in_what_was_to_stay_as_it_is(find: Any, made: str, item: str, given: str, is_told: bool) -> None:
    found = find(SWAPPED.format(made=made, item=item, given=given))
    assert found == ([("noisy", "batch")] if is_told else [])


@pytest.mark.parametrize(("made", "is_told"), [("x", True), ("x.copy()", False)])
def test_arrays_are_looked_at_where_they_are_held(tmp_path: Path, made: str, is_told: bool) -> None:
    path = tmp_path / "train.py"
    text = f"import numpy as np\ndef fit(x, y): return find([__file__])\nx = np.zeros((9, 2))\ny = {made}\n"
    path.write_text(f"{text}x[:4] = 1\nfound = fit(x, y)\n")
    space: dict[str, Any] = {"__file__": str(path), "find": find_aliased}
    exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102 a script of its own
    assert len(space["found"]) == is_told
