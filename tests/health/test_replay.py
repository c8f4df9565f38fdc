"""The findings depend on what was fed, not on the batches it came in, nor on what came first."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwatch.protocol import STATISTICS
from gradwatch_server.health import Engine
from tests.health.streams import SCALARS, Run, dense, forward, gradient_of
from tests.health.test_layers import CASES as LAYER_CASES
from tests.health.test_layers import INPUTS, LAYERS, MUL
from tests.health.test_operation import CASES as OPERATION_CASES
from tests.health.test_sick import CASES, broken_all, growing


def tell(engine: Engine) -> str:
    return json.dumps([finding.to_json() for finding in engine.findings()], allow_nan=False, sort_keys=True)


def feed_in(run: Run, sizes: list[int]) -> Engine:
    engine = run.announce(Engine())
    for rows in run.batches(itertools.cycle(sizes)):
        run.feed_slice(engine, rows)
        engine.findings()  # looking changes nothing
    return engine


ALL = CASES | OPERATION_CASES | LAYER_CASES
REPLAYED = {name: (case.run, tell(case.run.feed(batch=10_000))) for name, case in ALL.items()}
TROUBLES = ["break", "loss", "grow", "zero", "miss", "large", "scaled", "operation", "steep", "flat", "cut", "input",
            "origin", "collapse"]  # fmt: skip
WITNESSES = ["activation", "backprop", "input"]
LOG = forward("Log", "Log", code="loss = -tf.reduce_mean(y * tf.math.log(p))")


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(sorted(REPLAYED)), sizes=st.lists(st.integers(1, 70), min_size=1, max_size=5))
def test_batches_do_not_matter(name: str, sizes: list[int]) -> None:
    run, expected = REPLAYED[name]
    assert tell(feed_in(run, sizes)) == expected


@st.composite
def wild_runs(draw: Any) -> Run:
    """Runs with any mixture of troubles."""
    run = Run(
        dense(draw(st.integers(1, 5))),
        n_steps=200,
        seed=draw(st.integers(0, 99)),
        noise=draw(st.floats(0.01, 1.5)),
        operations=[LOG, gradient_of(LOG, "Reciprocal")],
        layers=LAYERS,
        inputs=INPUTS,
    )
    n = len(run.variables)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, 199))
        stop = draw(st.one_of(st.none(), st.integers(start + 1, start + 60)))
        which = draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True))
        kind = draw(st.sampled_from(["gradient", "update", "weight"]))
        value = draw(st.sampled_from(["n_nan", "n_pos_inf", "n_neg_inf"]))
        trouble = draw(st.sampled_from(TROUBLES))
        if trouble == "break":
            run.break_(kind, which, start=start, stop=stop, value=value, n=draw(st.sampled_from([None, 3])))
            if draw(st.booleans()):
                run.break_(draw(st.sampled_from(WITNESSES)), [0], start=start, stop=stop, value=value, n=3)
        elif trouble == "loss":
            run.break_loss(start, stop, draw(st.sampled_from([float("nan"), float("inf")])))
        elif trouble == "grow":
            run.scale("gradient", growing(draw(st.floats(1.1, 100.0)), start, start + 8, 200))
        elif trouble == "zero":
            run.scale("gradient", 0.0, which, start=start)
        elif trouble == "miss":
            run.miss(which, stop=stop)
        elif trouble == "large":
            run.set_loss(2.0).scale("update", 500.0)
        elif trouble == "operation":
            place, n_in = draw(st.integers(0, 1)), draw(st.sampled_from([0, 3]))
            run.break_operation(place, start=start, stop=stop, n_in=n_in, margin=0.0, n_singular=3)
        elif trouble == "steep":
            run.break_operation(0, start=start, stop=stop, n=0, margin=1e-14, amplification=1e14)
            run.scale("gradient", 20.0, start=start, stop=stop)
        elif trouble == "flat":
            run.set_loss(2.0).flatten(
                [draw(st.integers(0, 1))], draw(st.sampled_from([0.7, 1.0])), start=start, stop=stop
            )
        elif trouble == "cut":
            run.break_operation(0, start=start, stop=stop, n=0, margin=1e-6, amplification=1e6)
            run.cut("backprop", [4], 0.8, start=start, stop=stop)
        elif trouble == "input":
            run.break_input([draw(st.integers(0, 29))], start=start, stop=stop, value=value)
        elif trouble == "origin":
            run.name_origin(MUL, start, n_in=draw(st.integers(0, 1)))
        elif trouble == "collapse":
            run.draw_together([draw(st.integers(0, 1))], 1e-4, start=max(start, 8), stop=stop)
        else:
            run.scale_loss(1024.0)
    if draw(st.booleans()):
        run.thin_operations(draw(st.integers(2, 30)))
    if draw(st.booleans()):
        run.thin(draw(st.integers(2, 30)))
    return run


@settings(max_examples=60, deadline=None)
@given(run=wild_runs(), sizes=st.lists(st.integers(1, 70), min_size=1, max_size=5))
def test_batches_do_not_matter_in_wild_runs(run: Run, sizes: list[int]) -> None:
    assert tell(feed_in(run, sizes)) == tell(run.feed(batch=10_000))


@pytest.mark.parametrize("skew", [-300, -20, -1, 0, 1, 20, 300])
@pytest.mark.parametrize("value", [float("nan"), 0.7])
def test_logged_loss_may_come_before_or_after_its_rows(skew: int, value: float) -> None:
    """The same loss, logged by the user, that many steps ahead of the rows."""
    run = broken_all(Run(dense(4)), 150)
    run.present[:, 0] = False
    loss = np.full(300, 0.7, np.float32)
    loss[150] = value
    loss[151:] = np.nan
    engine = run.announce(Engine())
    for step in range(-300, 600):
        if 0 <= step + skew < 300:
            engine.feed_scalar("loss", np.array([step + skew]), loss[step + skew : step + skew + 1])
        if 0 <= step < 300:
            run.feed_slice(engine, slice(step, step + 1))
    (found,) = engine.findings()
    expected = "nonfinite_loss" if np.isnan(value) else "nonfinite_gradient"
    assert (found.kind, found.first_step) == (expected, 150)
    assert ("while the loss was still finite" in found.title) == (expected == "nonfinite_gradient")


def test_rows_of_known_steps_are_a_replay() -> None:
    run = broken_all(Run(dense(3)), 100)
    engine = run.feed()
    before, revision = tell(engine), engine.revision
    run.feed_slice(engine, slice(0, 300))
    assert (tell(engine), engine.revision) == (before, revision)


def test_revision_rises_with_every_change_and_only_then() -> None:
    run = Run(dense(3)).break_("gradient", start=50, stop=52)
    engine = run.announce(Engine())
    seen = []
    for start in range(0, 300, 10):
        run.feed_slice(engine, slice(start, start + 10))
        seen.append((engine.revision, tell(engine)))
    for (revision, told), (later, told_later) in itertools.pairwise(seen):
        assert (later > revision) == (told_later != told)
    assert seen[4][0] == 0
    assert seen[-1][0] == 2  # broken; recovered


def test_changed_table_keeps_findings_and_starts_its_rules_anew() -> None:
    run = Run(dense(3)).break_("gradient", start=50, stop=52)
    engine = run.feed()
    later = broken_all(Run(dense(5), first_step=300), 400)
    later.feed(engine)
    assert [(f.kind, f.first_step) for f in engine.findings()] == [
        ("nonfinite_gradient", 400),
        ("nonfinite_gradient", 50),
    ]


def test_same_table_again_changes_nothing() -> None:
    run = broken_all(Run(dense(3)), 100)
    engine = run.announce(Engine())
    for start in range(0, 300, 25):
        run.announce(engine)
        run.feed_slice(engine, slice(start, start + 25))
    assert tell(engine) == tell(run.feed())


def test_unknown_stream_says_what_to_do() -> None:
    run = Run(dense(2))
    with pytest.raises(KeyError, match="call add_stream first"):
        run.feed_slice(Engine(), slice(0, 1))


def test_wrong_shape_says_what_was_expected() -> None:
    engine = Run(dense(2)).announce(Engine())
    with pytest.raises(ValueError, match=r"expected \(\(1, 12, 12\), \(1, 6\)\)"):
        engine.feed_rows(
            0, np.array([0]), np.zeros((1, 3, len(STATISTICS)), np.float32), np.zeros((1, len(SCALARS)), np.float32),
            np.zeros((1, len(SCALARS)), bool),
        )  # fmt: skip
