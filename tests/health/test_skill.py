"""Predictions that are no better than guessing, told by their gradient; against NumPy's own Brier score and error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from gradwatch_server.health import Engine, Finding
from tests.health.recorder import measure
from tests.health.streams import COLUMN, Run, dense

BATCH = 32
Batch = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Outputs, targets, and the gradient of the loss with respect to the outputs."""


def softmax(scores: np.ndarray) -> np.ndarray:
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def classes(scores: np.ndarray, labels: np.ndarray, weight: float = 1.0) -> Batch:
    asked = np.eye(scores.shape[-1])[labels]
    return scores, labels, weight * (softmax(scores) - asked) / len(labels)


def squares(given: np.ndarray, asked: np.ndarray, weight: float = 1.0) -> Batch:
    return given, asked, weight * 2 * (given - asked) / given.size


def record(
    make: Callable[[int], Batch],
    *,
    n_steps: int = 300,
    dtype: str = "int64",
    beside: Sequence[tuple[str, int]] = (),
    before: Sequence[tuple[str, tuple[int, ...], str]] = (),
) -> Run:
    """Rows of a network whose last layer gives and is asked for what each step makes."""
    units = make(0)[0].shape[-1]
    layers = [("dense_0", 64, "relu"), ("last", units, "linear")]
    variables = [*before, *dense(1), ("last/kernel", (64, units), "float32")]
    run = Run(variables, n_steps=n_steps, layers=layers, inputs=[("target", units), *beside])
    target = run.columns("input")[0]
    run.tensors[int(target)] |= {"tensor": "target", "dtype": dtype}
    output, signal = (int(run.columns(kind, [1])[0]) for kind in ("activation", "backprop"))
    for step in range(n_steps):
        for column, values in zip((output, target, signal), make(step), strict=True):
            run.statistics[step, column] = measure(values)
    return run.set_loss(np.linspace(30.0, 20.0, n_steps))  # falls, as a penalty does: no rule of the loss is asked


def causes(finding: Finding) -> list[str]:
    return [one.cause for one in finding.hypotheses]


def finished(engine: Engine) -> Sequence[Finding]:
    engine.finish()
    return engine.findings()


def of_classes(n: int, spread: float, skill: float = 0.0, weight: float = 1.0) -> Callable[[int], Batch]:
    """Scores of some spread, and a part of them that knows the label."""

    def make(step: int) -> Batch:
        random = np.random.default_rng(step)
        labels = random.integers(n, size=BATCH)
        scores = spread * random.standard_normal((BATCH, n)) + skill * np.eye(n)[labels]
        return classes(scores, labels, weight)

    return make


@pytest.mark.parametrize(
    ("level", "weight", "is_told"),
    [
        pytest.param(1.6, 1.0, True, id="at guessing"),
        pytest.param(1.2, 1.0, False, id="below guessing"),
        pytest.param(1.6, 5.0, False, id="no cross-entropy as it is"),
    ],
)
def test_first_updates_that_lead_from_worse_than_guessing_to_guessing(
    level: float, weight: float, is_told: bool
) -> None:
    sick = record(of_classes(5, spread=1.0, skill=1.5, weight=weight), n_steps=150)
    sick.scale("update", np.where(np.arange(150) < 10, 400.0 / (1 + np.arange(150)), 5.0))
    sick.set_loss(np.where(np.arange(150) < 5, 2.6, level))
    found = sick.feed().findings()
    assert [one.kind for one in found] == (["lr_too_high"] if is_told else [])
    for one in found:
        assert one.title.startswith("The first updates replaced the weights, and the loss has hardly come below guess")
        assert "by step 99; guessing gives 1.61;" in one.evidence["summary"]


def of_numbers(error: float, skill: float = 0.0, spread: float = 3.0, weight: float = 1.0) -> Callable[[int], Batch]:
    def make(step: int) -> Batch:
        random = np.random.default_rng(step)
        asked = 5.0 + spread * random.standard_normal((BATCH, 1))
        given = 5.0 + skill * (asked - 5.0) + error * random.standard_normal((BATCH, 1))
        return squares(given, asked, weight)

    return make


def of_a_label(share: float, spread: float) -> Callable[[int], Batch]:
    """One score for each sample, around that of a label's share."""

    def make(step: int) -> Batch:
        random = np.random.default_rng(step)
        asked = (random.random((BATCH, 1)) < share).astype(float)
        scores = np.log(share / (1 - share)) + spread * random.standard_normal((BATCH, 1))
        return scores, asked, (1 / (1 + np.exp(-scores)) - asked) / BATCH

    return make


@pytest.mark.parametrize("batch", [1, 64])
def test_scores_that_say_nothing(batch: int) -> None:
    make, n_steps = of_classes(5, 0.05), 320
    (found,) = finished(record(make, n_steps=n_steps).feed(batch=batch))
    assert (found.kind, found.severity, found.first_step, found.layer) == ("loss_plateau", "warning", 0, "last")
    assert found.title == "The predictions are no better than guessing among 5 classes after 320 steps"
    scores = [((softmax(s) - np.eye(5)[y]) ** 2).sum(-1).mean() for s, y, _ in map(make, range(200, 300))]
    assert found.evidence["distance"] == pytest.approx(np.mean(scores), rel=1e-5)
    assert found.evidence["guess"] == pytest.approx(1 - 1 / 5)
    assert not found.evidence["is_worse"]
    assert found.evidence["is_final"]


@pytest.mark.parametrize(("start", "is_late"), [(20, False), (200, True)])
def test_outputs_that_come_to_be_the_same_for_all_are_why_nothing_is_learned_or_come_of_it(
    start: int, is_late: bool
) -> None:
    sick = record(of_classes(5, 0.05), n_steps=320)
    near = np.maximum(np.exp(-np.maximum(np.arange(320) - start, 0) / 8.0), 1e-4)
    (found,) = finished(sick.draw_together([0], near).feed())
    assert (found.kind, found.first_step) == (("loss_plateau", 0) if is_late else ("dead_units", found.first_step))
    assert "better than guessing" in found.title if is_late else "nearly the same for every sample" in found.title
    is_asked = "The labels do not belong to the inputs, or carry nothing that the model can learn" in causes(found)
    assert is_asked or is_late


@pytest.mark.parametrize(("gain", "is_told"), [(8.0, True), (1.0, False)])
def test_a_recurrent_kernel_that_began_too_large(gain: float, *, is_told: bool) -> None:
    kernels = [("rnn/cell/kernel", (6, 64), "float32"), ("rnn/cell/recurrent", (64, 64), "float32")]
    sick = record(of_classes(5, 0.05), n_steps=320, before=kernels)
    sick.statistics[:, sick.columns("weight", [1]), COLUMN["norm"]] = gain * 8.0
    (found,) = finished(sick.set_loss(1.61).feed())
    assert (causes(found)[0] == "rnn/cell/recurrent began with weights about 8 times too large") == is_told


def causes_with(*untrained: str) -> list[tuple[str, str]]:
    """Causes, and why, where nothing is learned by a model that has some variables which no optimizer is given."""
    run = record(of_classes(5, 0.05), n_steps=320).set_loss(np.log(5.0))
    run.untrained = untrained
    found = finished(run.feed())[0]
    assert found.kind == "loss_plateau"
    return [(hypothesis.cause, hypothesis.why) for hypothesis in found.hypotheses]


def test_variables_that_keras_does_not_know_of_come_first_where_nothing_is_learned() -> None:
    run = record(of_classes(5, 0.05), n_steps=320).set_loss(np.log(5.0))
    run.untracked = ("graph/layer/w",)
    first, *_ = finished(run.feed())[0].hypotheses
    assert first.cause == "Keras does not know of some variables"
    assert "graph/layer/w" in first.why


def test_variables_that_no_optimizer_is_given_come_first_where_nothing_is_learned() -> None:
    plain = causes_with()
    first, *others = causes_with("embed/embeddings")
    assert others == plain
    assert first[0] == "Some variables are never trained"
    assert first[1].startswith("1 trainable variable of the model is given to no optimizer: embed/embeddings. ")


def test_scores_that_are_sure_of_anything() -> None:
    make = of_classes(5, 200.0)
    (found,) = record(make).feed().findings()
    assert found.title == "The predictions are worse than guessing among 5 classes after 200 steps"
    assert (found.first_step, found.evidence["is_worse"], found.evidence["is_final"]) == (100, True, False)
    scores = [((softmax(s) - np.eye(5)[y]) ** 2).sum(-1).mean() for s, y, _ in map(make, range(200, 300))]
    assert found.evidence["distance"] == pytest.approx(np.mean(scores), rel=1e-5)


def test_an_error_as_large_as_that_of_the_mean() -> None:
    make = of_numbers(0.1)
    (found,) = record(make, n_steps=1000, dtype="float32").feed().findings()
    assert found.title.startswith("The predictions are no better than giving the mean of the targets for every input")
    batches = [make(step) for step in range(900, 1000)]
    assert found.evidence["distance"] == pytest.approx(np.mean([(g - a) ** 2 for g, a, _ in batches]), rel=1e-4)
    assert found.evidence["guess"] == pytest.approx(np.var([a for _, a, _ in batches]), rel=1e-4)


def test_an_error_larger_than_that_of_the_mean() -> None:
    (found,) = record(of_numbers(4.0), dtype="float32").feed().findings()
    assert found.title.startswith("The predictions are worse than giving the mean of the targets for every input")


def test_a_label_of_which_only_the_share_is_known() -> None:
    make = of_a_label(0.2, 0.02)
    (found,) = finished(record(make, dtype="float32").feed())
    assert found.title == "The predictions are no better than giving every sample one probability after 300 steps"
    asked = np.concatenate([make(step)[1] for step in range(200, 300)])
    assert found.evidence["guess"] == pytest.approx(asked.mean() * (1 - asked.mean()), rel=1e-4)


def learning(step: int) -> Batch:
    return of_classes(5, 1.0, skill=step / 30)(step)


def beginning(step: int) -> Batch:
    return of_classes(5, 0.05, skill=0.0 if step < 100 else 1.0)(step)


def late(step: int) -> Batch:
    return of_classes(5, 0.05, skill=0.0 if step < 700 else 6.0)(step)


@pytest.mark.parametrize(
    ("make", "n_steps", "dtype"),
    [
        pytest.param(learning, 300, "int64", id="learns"),
        pytest.param(late, 1000, "int64", id="learns late"),
        pytest.param(of_classes(5, 0.05, skill=0.6), 300, "int64", id="a little better"),
        pytest.param(of_classes(5, 0.05, weight=0.3), 300, "int64", id="a loss of another scale"),
        pytest.param(of_classes(5, 0.3, weight=2.0), 300, "int64", id="a loss of twice the scale"),
        pytest.param(of_numbers(0.1, skill=0.5), 300, "float32", id="half of the spread explained"),
        pytest.param(of_numbers(0.1, weight=3.0), 300, "float32", id="a squared error with a weight"),
        pytest.param(of_numbers(0.1), 90, "float32", id="ended at once"),
        pytest.param(beginning, 150, "int64", id="has just begun to learn"),
        pytest.param(of_a_label(0.5, 200.0), 90, "float32", id="a label, ended at once"),
    ],
)
def test_what_is_well_or_unknown(make: Callable[[int], Batch], n_steps: int, dtype: str) -> None:
    assert not finished(record(make, n_steps=n_steps, dtype=dtype).feed())


def test_among_very_many_classes_the_loss_shows_what_is_learned() -> None:
    """A right class that is four times as likely as by chance: a cross-entropy far down, a square that is not."""
    make, n = of_classes(400, 0.05, skill=1.5), 400
    batches = [make(step) for step in range(300)]
    loss = [-np.log(softmax(scores)[np.arange(BATCH), labels]).mean() for scores, labels, _ in batches]
    square = np.mean([((softmax(s) - np.eye(n)[y]) ** 2).sum(-1).mean() for s, y, _ in batches])
    assert square > 0.97 * (1 - 1 / n)
    assert not finished(record(make).set_loss(np.array(loss)).feed())
    unlearned = record(of_classes(400, 0.05)).set_loss(np.full(300, np.log(n)))
    assert len(finished(unlearned.feed())) == 1


@pytest.mark.parametrize("name", ["target/domain", "sample_weight"])
def test_several_heads_or_weights_are_not_judged(name: str) -> None:
    assert not finished(record(of_classes(5, 0.05), beside=[(name, 1)]).feed())


def test_a_run_that_goes_on_after_its_end() -> None:
    run = record(late, n_steps=1000)
    engine = run.announce(Engine())
    run.feed_slice(engine, slice(0, 400))
    assert len(finished(engine)) == 1
    run.feed_slice(engine, slice(400, 1000))
    assert not finished(engine)


def test_a_sign_that_is_wrong() -> None:
    def make(step: int) -> Batch:
        scores, labels, gradient = of_classes(5, 200.0)(step)
        return scores, labels, -gradient

    run = record(make).set_loss(-np.linspace(1.6, 80.0, 300))
    (found,) = run.feed().findings()
    assert found.hypotheses[0].cause == "A sign is wrong: the error is made larger, not smaller"


def test_a_penalty_that_is_most_of_the_loss() -> None:
    (found,) = finished(record(of_classes(5, 0.05)).feed())
    assert found.hypotheses[0].cause == "Regularisation outweighs the error"
    assert found.hypotheses[0].why.startswith("Of the loss, 29.7 at first and 2")
    assert "the error of the predictions is about 1.61." in found.hypotheses[0].why


@pytest.mark.parametrize(
    ("correlation", "skill", "is_told"),
    [
        pytest.param(np.where(np.arange(600) < 150, 0.0, 0.2), 0.12, True, id="nothing of new samples, a little later"),
        pytest.param(0.15, 0.12, False, id="a little from the start on: more cannot be learned"),
        pytest.param(np.where(np.arange(600) < 150, 0.0, 0.4), 0.8, False, id="enough later"),
        pytest.param(np.nan, 0.12, False, id="not known"),
    ],
)
def test_what_is_hardly_better_than_guessing(correlation: object, skill: float, is_told: bool) -> None:
    """At the end; what fresh samples did not teach is learned by heart."""

    def make(step: int) -> Batch:
        return of_classes(5, 0.05, 0.0 if step < 150 else skill)(step)

    run = record(make, n_steps=600).set_loss(np.linspace(1.9, 1.7, 600)).correlate("target", correlation)
    findings = finished(run.feed())
    told = [one for one in findings if "hardly better than guessing among 5 classes" in one.title]
    assert len(told) == is_told
    for one in told:
        assert one.hypotheses[0].cause.startswith("The labels do not belong to the inputs")
        assert 0.93 * 0.8 <= one.evidence["distance"] < 0.97 * 0.8


@pytest.mark.parametrize(("loss", "is_told"), [(1.5, True), (0.5, False)])
def test_outputs_that_came_down_to_a_usual_size_are_told_of_where_little_is_learned(loss: float, is_told: bool) -> None:
    run = record(of_classes(5, 0.05, 0.9), n_steps=300).set_loss(loss)
    column = run.columns("activation", [0])[0]
    run.statistics[:, column, COLUMN["std"]] = np.where(np.arange(300) < 8, 500.0, 0.4)
    told = [found for found in run.feed().findings() if " has shrunk to " in found.title]
    assert len(told) == is_told


@pytest.mark.parametrize(("n_before", "shift", "is_told"), [(250, 250, True), (600, 100, False), (600, 600, False)])
def test_a_stage_after_another_is_judged_once_that_is_long_over(n_before: int, shift: int, is_told: bool) -> None:
    """A second optimizer: after the first, beside it, or after so long a first stage that it may go on yet."""
    engine = Engine()
    first, second = record(of_classes(5, 0.1, 4.0), n_steps=n_before), record(of_classes(5, 4.0), n_steps=500)
    second.stream, second.steps = 1, second.steps + shift
    first.feed(engine)
    second.feed(engine)
    titles = [one.title for one in finished(engine)]
    assert any(title.startswith("The predictions are worse than guessing") for title in titles) == is_told


@pytest.mark.parametrize(("factor", "place"), [(1.0, None), (25.0, 1), (50.0, 0)])
def test_first_updates_that_are_a_suspect_where_nothing_was_learned(factor: float, place: int | None) -> None:
    """They are 1e-3 of the weights as they stand; later ones are."""
    sick = record(of_classes(5, spread=0.1), n_steps=300)
    sick.scale("update", np.where(np.arange(300) < 60, factor, 1.0)).set_loss(np.linspace(2.1, 1.8, 300))
    (found,) = (one for one in finished(sick.feed()) if "no better than guessing" in one.title)
    causes = [one.cause for one in found.hypotheses]
    assert (causes.index("The learning rate is too high") if len(causes) > 1 else None) == place


@pytest.mark.parametrize("is_handicapped", [False, True])
def test_scores_that_their_own_label_makes_smaller_are_no_predictions(is_handicapped: bool) -> None:
    slip = {"type": "OneHot", "name": "margin/one_hot", "layer": "margin", "source": None, "handicaps": True}
    run = record(of_classes(5, 4.0), n_steps=500)
    run.slips = [slip] * is_handicapped
    titles = [one.title for one in finished(run.feed())]
    assert any(title.startswith("The predictions are worse than guessing") for title in titles) != is_handicapped
