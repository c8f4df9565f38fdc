"""Data that come in order: how much of what tells targets apart lies between batches, and what is said of it."""

import math

import numpy as np
import pytest

from gradwatch_server.health.target import ORDER_ROWS_MIN
from tests.health.streams import COLUMN, Run, dense
from tests.numerics.reference import row

BATCH = 16
LABELS = np.repeat(np.arange(10), 200)


def run_with(targets: np.ndarray, *, n_steps: int = 120, dtype: str = "int64") -> Run:
    """A run whose units die, with targets ``[n_steps, n_samples]``."""
    layers = [("dense_0", 64, "relu"), ("dense_1", 64, "relu"), ("dense_2", 10, None)]
    run = Run(dense(3), n_steps=n_steps, layers=layers, inputs=[("input", 8), ("target", 1)])
    run.tensors[-1] |= {"dtype": dtype, "shape": [None]}
    run.statistics[:, -1] = [row(batch.astype(np.float64)) for batch in targets]
    return run.flatten([0, 1], 0.95, start=20).set_loss(2.3)


def batches(labels: np.ndarray, n_steps: int = 120, n_samples: int = BATCH) -> np.ndarray:
    return np.resize(labels, n_steps * n_samples).reshape(n_steps, n_samples)


def told(run: Run) -> list[tuple[str, float | None]]:
    return [(f.hypotheses[0].cause, f.evidence.get("share_between_batches")) for f in run.feed().findings()]


def test_sorted_labels_are_the_first_cause() -> None:
    given = batches(LABELS)
    ((cause, share),) = told(run_with(given))
    assert "come in order" in cause
    between, within = np.var(given.mean(axis=1)), given.var(axis=1).mean()
    assert share == pytest.approx(between / (between + within), rel=1e-5)
    assert share > 0.9


@pytest.mark.parametrize("n_samples", [4, 16, 64])
def test_shuffled_labels_are_none(n_samples: int) -> None:
    shuffled = np.random.default_rng(0).permutation(LABELS)
    ((cause, share),) = told(run_with(batches(shuffled, n_samples=n_samples)))
    assert "come in order" not in cause
    assert share is None


def test_a_batch_of_one_says_nothing() -> None:
    ((cause, _),) = told(run_with(batches(LABELS, n_samples=1)))
    assert "come in order" not in cause


@pytest.mark.parametrize(("n_classes", "is_told"), [(2, False), (3, True), (10, True)])
def test_batches_of_a_single_class_each(n_classes: int, is_told: bool) -> None:
    """Two take turns in a game, real ones and false ones; classes that fill whole batches are in order."""
    alone = np.repeat(np.arange(120)[:, None] % n_classes, BATCH, axis=1)
    ((cause, share),) = told(run_with(alone))
    assert ("come in order" in cause, share) == (is_told, 1.0 if is_told else None)


@pytest.mark.parametrize(("dtype", "is_told"), [("int64", True), ("float32", False)])
def test_updates_that_replace_the_weights_may_come_of_the_order_of_labels(dtype: str, is_told: bool) -> None:
    run = Run(dense(3), n_steps=400, inputs=[("input", 8), ("target", 1)]).set_loss(2.3)
    run.tensors[-1] |= {"dtype": dtype, "shape": [None]}
    run.statistics[:, -1] = [row(batch.astype(np.float64)) for batch in batches(LABELS, 400)]
    run.scale("update", np.where(np.arange(400) < 10, 400.0 / (1 + np.arange(400)), 5.0))
    (found,) = run.feed().findings()
    assert found.kind == "lr_too_high"
    assert any("come in order" in one.cause for one in found.hypotheses[:2]) == is_told


def test_a_series_may_come_in_order_for_good_reason() -> None:
    series = np.sin(np.arange(120 * BATCH) / 300)
    labels, floats = (
        run_with(batches(values), dtype=kind) for values, kind in ((LABELS, "int64"), (series, "float32"))
    )
    confidence = [run.feed().findings()[0].hypotheses[0].confidence for run in (labels, floats)]
    assert confidence[0] > confidence[1]
    causes = [hypothesis.cause for hypothesis in floats.feed().findings()[0].hypotheses]
    assert any("come in order" in cause for cause in causes[1:])
    assert not any("come in order" in cause for cause in causes[:1])


def test_causes_stand_in_the_order_of_their_confidence() -> None:
    for dtype in ("int64", "float32"):
        (found,) = run_with(batches(LABELS), dtype=dtype).feed().findings()
        confidence = [hypothesis.confidence for hypothesis in found.hypotheses]
        assert confidence == sorted(confidence, reverse=True)


def test_elements_of_one_sample_are_no_samples() -> None:
    """Masks of mostly one class, one a batch, well shuffled."""
    run = run_with(batches(LABELS))
    run.tensors[-1] |= {"shape": [None, 16]}
    assert all("come in order" not in cause for cause, _ in told(run))


def test_real_and_false_in_turn_are_no_order() -> None:
    given = np.tile(np.array([[0], [1]]), (60, BATCH))
    assert all("come in order" not in cause for cause, _ in told(run_with(given)))


def test_rows_that_were_not_captured_say_nothing() -> None:
    given = batches(LABELS)
    run = run_with(given)
    keep = np.arange(0, 120, 120 // (ORDER_ROWS_MIN - 1))
    run.statistics[np.setdiff1d(np.arange(120), keep[: ORDER_ROWS_MIN - 1]), -1] = math.nan
    ((cause, _),) = told(run)
    assert "come in order" not in cause
    assert np.isfinite(run.statistics[:, -1, COLUMN["mean"]]).sum() == ORDER_ROWS_MIN - 1


def in_order(stay: int, n: int = 400, *, kinds: int = 9, purity: float = 1.0, dtype: str = "int64") -> Run:
    """Batches of labels whose class changes after so many; 1: shuffled batches of one class each."""
    random = np.random.default_rng(0)
    run = Run(dense(2), n_steps=n, inputs=[("target", 1)])
    (target,) = run.columns("input")
    run.tensors[int(target)] |= {"tensor": "target", "dtype": dtype, "shape": [None]}
    labels = np.arange(n) // stay % kinds if stay > 1 else random.integers(kinds, size=n)
    for step, label in enumerate(labels.tolist()):
        is_own = random.random(64) < purity
        run.statistics[step, target] = row(np.where(is_own, label, random.integers(kinds, size=64)).astype(np.float64))
    return run


@pytest.mark.parametrize("purity", [1.0, 0.9])
def test_labels_in_order_are_told_though_the_loss_falls(purity: float) -> None:
    (found,) = in_order(12, purity=purity).feed().findings()
    assert found.kind == "loss_plateau"
    assert found.title.startswith("The data come in order: almost every batch holds a single class")
    assert found.evidence["share_between_batches"] > 0.5
    assert "shuffle" in found.hypotheses[0].fix


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(in_order(12, purity=0.0), id="shuffled"),
        pytest.param(in_order(1), id="batches of one class each, in any order"),
        pytest.param(in_order(2, kinds=2), id="two sides of a game"),
        pytest.param(in_order(12, purity=0.4), id="more of some"),
        pytest.param(in_order(12, dtype="float32"), id="numbers of a series"),
        pytest.param(in_order(12, n=150), id="not long enough"),
    ],
)
def test_labels_that_come_in_no_order(healthy: Run) -> None:
    assert not healthy.feed().findings()


def test_data_that_are_shuffled_after_all() -> None:
    run, rest = in_order(12), in_order(12, n=2_000, purity=0.0)
    rest.steps = rest.steps + len(run.steps)
    engine = run.feed()
    rest.feed(engine)
    (found,) = engine.findings()
    assert found.title.startswith("The data came in order until step")
