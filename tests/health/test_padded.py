"""Sequences that end in padding before a recurrent layer, by what the hook tells of each batch and the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwatch.protocol import PADDED_PLACE
from gradwatch_server.health.finding import Finding
from tests.health.streams import Run, dense

N = 300
FLAT = np.full(N, 0.69)
LATE = np.where(np.arange(N) < 160, 0.69, 0.3)
EARLY = np.where(np.arange(N) < 60, 0.69, 0.3)
SLIP = {"type": "While", "name": "reader/while", "layer": "reader", "source": None, "end_of": 40}


def told(loss: Any, *, batch: int = 64, place: Any = PADDED_PLACE, slips: Any = (SLIP,)) -> list[Finding]:
    run = Run(dense(2), n_steps=N, layers=[("reader", 32, "tanh"), ("out", 1, "sigmoid")], slips=list(slips))
    run.add_scalar("leaked", place).set_loss(loss)
    return [one for one in run.feed(batch=batch).findings() if "padding" in one.title]


@pytest.mark.parametrize("batch", [1, 64, N])
def test_nothing_is_learned(batch: int) -> None:
    (found,) = told(FLAT, batch=batch)
    assert (found.kind, found.severity, found.layer, found.first_step) == ("loss_plateau", "warning", "reader", 0)
    assert found.title == "The sequences end in padding, and reader outputs only its state after it"
    assert found.evidence["loss"] == pytest.approx(0.69)
    assert found.hypotheses[0].cause.startswith("Padding stands at the end of the sequences, and reader reads it last")


@pytest.mark.parametrize(
    ("n_gates", "level", "is_told"),
    [(1, 0.7, True), (1, 0.5, False), (3, 0.7, False), (4, 0.7, False)],
    ids=["no gates", "it is learned", "of a GRU", "of an LSTM"],
)
def test_a_layer_without_gates_that_learns_a_part(n_gates: int, level: float, is_told: bool) -> None:
    cell = [("reader/cell/kernel", (4, 32 * n_gates)), ("reader/cell/recurrent_kernel", (32, 32 * n_gates))]
    variables = [(*one, "float32") for one in cell] + [(f"out/{n}", s, "float32") for n, s in (("kernel", (32, 1)),)]
    run = Run(variables, n_steps=N, layers=[("reader", 32, "tanh"), ("out", 1, "sigmoid")], slips=[SLIP])
    run.add_scalar("leaked", PADDED_PLACE).set_loss(np.where(np.arange(N) < 30, 1.0, level))
    assert [one.layer for one in run.feed().findings() if "padding" in one.title] == ["reader"] * is_told


def test_it_is_learned_after_a_while() -> None:
    (found,) = told(LATE)
    assert found.title.endswith(", until step 168")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"loss": EARLY}, id="it is learned"),
        pytest.param({"loss": FLAT, "place": 0.0}, id="no padding"),
        pytest.param({"loss": FLAT, "place": float("nan")}, id="not known"),
        pytest.param({"loss": FLAT, "place": np.where(np.arange(N) % 50 < 49, PADDED_PLACE, 0.0)}, id="some batches"),
        pytest.param({"loss": FLAT, "slips": ()}, id="nothing is read to its end"),
    ],
)
def test_what_is_no_harm(options: Any) -> None:
    assert told(**options) == []


MIDDLE = np.where(np.arange(N) < 30, 1.0, 0.7)
LINE = {"file": "train.py", "line": 41, "code": "class Scale(Layer):", "excerpt": None}
LOST = {
    "type": "Scale",
    "name": "net/scale",
    "layer": "reader",
    "source": LINE,
    "loses": "net/words",
    "is_own": True,
    "is_op": False,
    "n_steps": 40,
}


@pytest.mark.parametrize(
    ("more", "cause", "fix"),
    [
        ({}, "net/scale, a Scale, hands on no mask (train.py:41)", "Set `self.supports_masking = True`"),
        ({"is_own": False, "type": "Lambda"}, "net/scale, a Lambda, hands on no mask (train.py:41)", "Put it behind"),
        (
            {"is_op": True, "is_own": False, "type": "AddV2"},
            "A line computes with the masked tensor",
            "Compute this in",
        ),
    ],
)
@pytest.mark.parametrize("slips", [(), (SLIP,)])
def test_a_mask_that_was_lost_on_the_way(more: Any, cause: str, fix: str, slips: Any) -> None:
    (found,) = told(MIDDLE, slips=(*slips, LOST | more))
    assert found.title.startswith("reader reads the padding: its mask is lost in ")
    assert (found.source, found.layer) == (LINE, "reader")
    assert found.hypotheses[0].cause.startswith(cause)
    assert found.hypotheses[0].fix.startswith(fix)
    assert "net/words makes a mask" in found.hypotheses[0].why


def test_a_mask_that_was_lost_to_another_layer_than_that_which_reads_the_end() -> None:
    (found,) = told(FLAT, slips=(SLIP, LOST | {"layer": "other"}))
    assert found.title.startswith("The sequences end in padding, and reader outputs")


def test_a_lost_mask_that_does_no_harm() -> None:
    assert told(np.where(np.arange(N) < 30, 1.0, 0.4), slips=(LOST,)) == []
    assert told(MIDDLE, place=0.0, slips=(LOST,)) == []
    assert told(MIDDLE) == []
