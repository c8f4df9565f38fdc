"""Outputs that do not follow their targets, follow them less than they did, or run against them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradwatch_server.health import Engine, Finding
from tests.health.streams import COLUMN, Run, call, dense

N = 2_300
NOISE = 0.05


def record(
    targets: dict[str, Any],
    *,
    n_steps: int = N,
    units: int = 3,
    dtype: str = "float32",
    beside: tuple[tuple[str, int], ...] = (),
    falls_to: float = 0.2,
    **setup: Any,
) -> Run:
    """Rows of a network whose outputs follow each target so far, about; its loss falls."""
    layers = [("dense_0", 64, "relu"), ("last", 3, "linear")]
    run = Run(dense(2), n_steps=n_steps, layers=layers, inputs=[*((name, units) for name in targets), *beside], **setup)
    for column in run.columns("input")[: len(targets)]:
        run.tensors[int(column)]["dtype"] = dtype
        if "int" in dtype:
            run.statistics[:, column, [COLUMN["min"], COLUMN["max"]]] = [0, 2]
    noise = np.random.default_rng(0).normal(0, NOISE, (len(targets), n_steps))
    for scatter, (name, values) in zip(noise, targets.items(), strict=True):
        run.correlate(name, np.asarray(values) + scatter)
    return run.set_loss(np.linspace(2.0, falls_to, n_steps))


def found(run: Run, *, is_over: bool = False, batch: int = 64, engine: Engine | None = None) -> list[Finding]:
    engine = run.feed(engine, batch)
    if is_over:
        engine.finish()
    return engine.findings()


LEARNED = 0.8 * (1 - np.exp(-np.arange(N) / 100))


@pytest.mark.parametrize("batch", [1, 7, N])
def test_outputs_that_follow_nothing_though_the_loss_falls(batch):
    (one,) = found(record({"target": 0.0}), batch=batch)
    assert (one.kind, one.severity, one.first_step) == ("loss_plateau", "warning", 0)
    assert one.title.startswith("The outputs do not follow their targets")
    assert one.evidence["correlation"] == pytest.approx(0, abs=0.02)
    assert one.hypotheses[0].cause == "The loss falls by something else than better predictions"


def test_scores_that_their_own_label_changes_are_held_to_none():
    slip = {"type": "OneHot", "name": "one_hot", "layer": "margin", "source": None, "handicaps": True}
    assert not found(record({"target": 0.0}, slips=[slip]))
    assert not found(beside_a_fit(0.2, slips=[slip]))
    assert found(beside_a_fit(0.2))


def test_a_class_with_hardly_any_sample():
    source = {"file": "train.py", "line": 7, "code": "model.fit(x, y)"}
    slip = {"type": "Data", "name": "", "layer": "", "source": source, "scarce": 0.00875, "label": 1.0}
    (one,) = found(record({"target": 0.0}, slips=[slip]))
    assert one.hypotheses[0].cause == "Only 0.875 % of the samples are of class 1 (train.py:7)"
    assert "class_weight={0: 1.0, 1: 100}" in one.hypotheses[0].code


def test_a_loss_that_fell_by_nothing_is_not_said_to_have():
    (one,) = found(record({"target": 0.0}, falls_to=1.9))
    assert one.hypotheses[0].cause.startswith("The labels do not belong to the inputs")


def test_one_of_several_targets():
    targets = {"target/open": 0.0, "target/seconds": LEARNED, "target/share": 0.3}
    (one,) = found(record(targets))
    assert one.title == (
        f"The outputs do not follow the target open (correlation {one.evidence['correlation']:.3g}), "
        "and do follow the target seconds"
    )
    assert one.tensor == "target/open"
    assert one.evidence["correlation_of_other"] == pytest.approx(0.8, abs=0.02)
    assert '"open": 1.0, "seconds": ratio' in one.hypotheses[0].code


@pytest.mark.parametrize("batch", [1, N])
@pytest.mark.parametrize(("ratio", "n_findings"), [(50.0, 1), (10.0, 0)])
def test_a_head_whose_gradient_is_next_to_nothing_beside_another_ones(ratio: float, n_findings: int, batch: int):
    layers = [("dense_0", 64, "relu"), ("power", 1, "linear"), ("fault", 1, "linear")]
    run = Run(dense(2), n_steps=N, layers=layers, inputs=[("target/power", 1), ("target/fault", 1)])
    power, fault = run.columns("backprop")[-2:]
    for column, norm in ((power, ratio), (fault, 1.0)):
        run.statistics[:, column, COLUMN["norm"]] = norm * np.sqrt(run.statistics[:, column, COLUMN["n_elements"]])
    run.correlate("target/power", LEARNED)
    run.correlate("target/fault", np.full(N, 0.3))
    run.script = {"calls": [call("compile", '«model.compile("adam", loss=losses)»')]}
    findings = found(run.set_loss(np.linspace(2.0, 0.2, N)), batch=batch)
    assert len(findings) == n_findings
    for one in findings:
        assert one.title.startswith("The outputs hardly follow the target fault (correlation 0.3)")
        assert one.evidence["ratio"] == pytest.approx(ratio, rel=1e-3)
        assert one.hypotheses[0].cause == "Another part of the loss drowns this one"
        assert (
            '+ model.compile("adam", loss=losses, loss_weights={"fault": 1.0, "power": 0.02})' in one.hypotheses[0].code
        )


def test_of_targets_without_keys_the_layers_that_are_held_to_them_are_named():
    """A linear fit is held to the first target alone, and says nothing of another."""
    layers = [("dense_0", 64, "relu"), ("level", 4, "linear"), ("wait", 1, "linear")]
    run = Run(dense(2), n_steps=N, layers=layers, inputs=[("target/data_2", 1), ("target/data_1", 1)])
    for column, head in zip(run.columns("input"), ("wait", "level"), strict=True):
        run.tensors[column]["head"] = head
    level, wait = run.columns("backprop")[-2:]
    for column, norm in ((wait, 50.0), (level, 1.0)):
        run.statistics[:, column, COLUMN["norm"]] = norm * np.sqrt(run.statistics[:, column, COLUMN["n_elements"]])
    run.correlate("target/data_2", LEARNED)
    run.correlate("target/data_1", np.full(N, 0.3))
    (one,) = found(run.add_scalar("linear_fit", 0.9).set_loss(np.linspace(2.0, 0.2, N)))
    assert one.title.startswith("The outputs hardly follow the target of level (correlation 0.3)")
    assert one.title.endswith("and do follow the target of wait")
    assert one.layer == "level"
    assert one.evidence["ratio"] == pytest.approx(50.0, rel=1e-3)
    assert "linear fit" not in one.evidence["summary"]
    assert "ratio = loss_of_level / loss_of_wait" in one.hypotheses[0].code


def test_beside_a_target_that_is_learned_it_is_told_sooner():
    first = {}
    for name, targets in {
        "alone": {"target": np.zeros(N)},
        "beside": {"target/a": np.zeros(N), "target/b": LEARNED},
    }.items():
        run, engine = record(targets), Engine()
        run.announce(engine)
        for rows in run.batches(iter([10] * N)):
            run.feed_slice(engine, rows)
            if engine.findings():
                first[name] = int(run.steps[rows][-1])
                break
    assert 490 <= first["beside"] <= 510
    assert 1_990 <= first["alone"] <= 2_010


@pytest.mark.parametrize("value", [-0.99, -0.6])
def test_outputs_that_run_against_several_numbers(value):
    (one,) = found(record({"target": -LEARNED if value > -0.7 else value}))
    assert one.title.startswith("The outputs run against their targets")
    assert one.hypotheses[0].cause == "The loss asks for the opposite of the targets"


def test_what_was_followed_better_while_the_loss_was_higher():
    fading = np.where(np.arange(N) < 500, 0.64, 0.64 - 0.0003 * (np.arange(N) - 500))
    (one,) = found(record({"target/a": LEARNED, "target/b": fading}))
    assert one.title.startswith("The outputs follow the target b less than they did: correlation 0.64")
    assert one.evidence["best"] == pytest.approx(0.64, abs=0.02)
    assert one.first_step >= 800
    assert one.hypotheses[0].cause == "The loss falls at the cost of these predictions"


def late(step: int) -> np.ndarray:
    return np.where(np.arange(N) < step, 0.0, 0.6)


def test_units_that_died_explain_no_single_head():
    """They are told of beside it, and do not take its place."""
    run = record({"target/a": np.zeros(N), "target/b": LEARNED}, falls_to=1.5)
    column = run.columns("activation", [0])[0]
    n_elements = run.statistics[:, column, COLUMN["n_elements"]]
    run.statistics[:, column, COLUMN["n_saturated"]] = np.where(np.arange(N) < 20, 0.0, 0.7) * n_elements
    run.statistics[:, column, COLUMN["n_zero"]] = run.statistics[:, column, COLUMN["n_saturated"]]
    titles = [one.title for one in found(run)]
    assert any(title.startswith("70% of the units of dense_0 have been dead") for title in titles)
    assert any(title.startswith("The outputs do not follow the target a") for title in titles)


WELL = {
    "a distance that runs against 'the same' more and more": record({"target": np.linspace(-0.5, -0.9, N)}, units=1),
    "learned": record({"target": LEARNED}),
    "a little is learned, of what is mostly noise": record({"target": 0.15}),
    "begins late": record({"target": late(1_900)}),
    "one of several begins late": record({"target/a": LEARNED, "target/b": late(400)}),
    "a distance, against labels of 'the same'": record({"target": -0.8}, units=1),
    "labels, which something else is made of": record({"target": -0.8}, dtype="int64"),
    "samples with weights, that may be less than nothing": record({"target": 0.0}, beside=(("sample_weight", 1),)),
    "worse for a while": record({"target": np.where((np.arange(N) > 500) & (np.arange(N) < 700), 0.4, 0.8)}),
    "worse, with the loss": record({"target": np.where(np.arange(N) > 500, 0.4, 0.8)}, falls_to=4.0),
    "nothing is known": record({"target": np.nan}),
    "not long enough": record({"target": 0.0}, n_steps=1_900),
}


@pytest.mark.parametrize("name", WELL)
def test_nothing_is_told_of(name):
    assert not found(WELL[name])


def test_labels_beside_outputs_that_are_no_scores():
    """Of a triplet loss: labels tell who belongs together, and outputs are coordinates, more than there are labels."""
    run = record({"target": 0.0}, dtype="int64")
    assert found(run)
    run = record({"target": 0.0}, dtype="int64")
    run.statistics[:, run.columns("input"), COLUMN["max"]] = 9
    assert not found(run)


@pytest.mark.parametrize(("n_steps", "is_told"), [(260, True), (150, False)])
def test_a_run_that_has_ended(n_steps, is_told):
    run = record({"target": 0.0}, n_steps=n_steps)
    assert not found(run)
    assert bool(found(run, is_over=True)) is is_told


@pytest.mark.parametrize(("end", "is_told"), [(0.9, False), (0.0, True)])
def test_the_few_rows_of_an_end_count_too(end, is_told):
    """A machine that is busy looks seldom: what was learned at last may be known by a few rows alone."""
    values = np.where(np.arange(700) < 190, 0.0, end)
    run = record({"target": values}, n_steps=700)
    rows = np.concatenate([np.arange(160), np.arange(190, 700, 96)])
    missing = np.setdiff1d(np.arange(700), rows)
    run.scalars[missing, 1:] = np.nan
    assert bool(found(run, is_over=True)) == is_told


def test_a_run_that_has_ended_and_goes_on():
    engine = Engine()
    first = record({"target": 0.0}, n_steps=260)
    assert found(first, is_over=True, engine=engine)
    more = record({"target": 0.7}, n_steps=200)
    more.steps = more.steps + 260
    assert not found(more, engine=engine)


def test_of_two_models_that_train_in_turn_none_is_judged():
    engine = Engine()
    found(record({"target": 0.0}), engine=engine)
    other = record({"target": LEARNED})
    other.stream = 1
    assert not [one for one in found(other, engine=engine) if "follow" in one.title]


FIT = 0.7
FLAT = np.full(N, 0.3)
RISES = 0.3 * (1 - np.exp(-np.arange(N) / 100))


def beside_a_fit(values: Any, *, fit: Any = FIT, last: str = "linear", **how: Any) -> Run:
    """Rows whose outputs follow a target so far, and which tell how far a linear fit does."""
    run = record({"target": values}, **how).add_scalar("linear_fit", fit)
    run.tensors[int(run.columns("activation")[-1])]["activation"] = last
    return run


def of_two_labels(run: Run, share: float = 0.5, said: float = 0.5) -> Run:
    spread = (share * (1 - share)) ** 0.5
    for name, value in {"min": 0.0, "max": 1.0, "mean": share, "std": spread}.items():
        run.statistics[:, run.columns("input"), COLUMN[name]] = value
    run.statistics[:, run.columns("activation")[-1], COLUMN["mean"]] = said
    return run


@pytest.mark.parametrize(("last", "is_told"), [("sigmoid", True), ("linear", False)])
def test_shares_are_held_to_labels_and_scores_are_not(last, is_told):
    run = of_two_labels(beside_a_fit(FLAT, units=1, last=last))
    assert bool([one for one in found(run) if "linear fit" in one.title]) is is_told


@pytest.mark.parametrize(
    ("share", "said", "is_told"), [(0.02, 0.02, True), (0.02, 0.2, False), (0.98, 0.8, False), (0.5, 0.9, True)]
)
def test_outputs_that_favour_a_rare_class_are_weighed(share, said, is_told):
    run = of_two_labels(beside_a_fit(FLAT, units=1, last="sigmoid"), share, said)
    assert bool([one for one in found(run) if "linear fit" in one.title]) is is_told


def test_what_rises_slowly_is_let_go_on_and_told_of_at_its_end():
    run = beside_a_fit(np.linspace(0.0, 0.5, N))
    assert not found(run)
    assert found(run, is_over=True)


def test_what_follows_nothing_yet_may_begin_late():
    """As a recurrent network does with words, of which a straight line counts some at once."""
    values = np.where(np.arange(N) < 1_200, 0.05, 0.6)
    assert not found(beside_a_fit(values))
    assert found(beside_a_fit(np.where(np.arange(N) < 1_200, 0.2, 0.6)))


def test_a_rate_that_still_rises_is_waited_for():
    run = beside_a_fit(FLAT)
    assert found(run)
    run.scalars[:, run.scalar_names.index("learning_rate")] = np.minimum(np.arange(N) / N, 0.9)
    assert not found(run)
    assert found(run, is_over=True)


@pytest.mark.parametrize("batch", [1, N])
def test_outputs_that_follow_less_than_a_linear_fit_does(batch):
    (one,) = found(beside_a_fit(RISES), batch=batch)
    assert (one.kind, one.severity) == ("loss_plateau", "warning")
    assert one.title.startswith("A linear fit of the same inputs follows their targets better than the model does: ")
    assert one.evidence["linear_fit"] == pytest.approx(FIT)
    assert one.evidence["correlation"] == pytest.approx(0.3, abs=0.03)
    assert one.hypotheses[0].cause.startswith("The model, its loss or its optimizer")


@pytest.mark.parametrize(("n_steps", "is_told"), [(260, True), (150, False)])
def test_it_is_told_at_the_end_of_a_run_too(n_steps, is_told):
    run = beside_a_fit(FLAT[:n_steps], n_steps=n_steps)
    assert not found(run)
    assert bool(found(run, is_over=True)) is is_told


def test_outputs_that_come_to_follow_as_much_heal_it():
    values = np.where(np.arange(N) < 1_200, 0.3, 0.68)
    (one,) = found(beside_a_fit(values))
    assert 1_000 < one.last_step < 1_300


STAYS = {
    "as good as the fit": beside_a_fit(0.62),
    "the fit finds little itself": beside_a_fit(0.05 + 0 * RISES, fit=0.19),
    "not known": beside_a_fit(RISES, fit=np.nan),
    "on its way": beside_a_fit(np.linspace(0.0, 0.6, 560), n_steps=560),
    "several targets": record({"target/a": RISES, "target/b": LEARNED}).add_scalar("linear_fit", FIT),
    "samples with weights": beside_a_fit(RISES, beside=(("sample_weight", 1),)),
    "a distance, against labels of 'the same'": beside_a_fit(-0.8, units=1),
}


@pytest.mark.parametrize("name", STAYS)
def test_a_fit_accuses_nobody_who_is(name):
    titles = [one.title for is_over in (False, True) for one in found(STAYS[name], is_over=is_over)]
    assert not [one for one in titles if "linear fit" in one]


def test_labels_of_which_not_even_a_fit_finds_anything():
    run = record({"target": 0.0}, falls_to=1.9)
    (before,) = found(run)
    (after,) = found(run.add_scalar("linear_fit", 0.01))
    assert before.hypotheses[0].cause == after.hypotheses[0].cause
    assert before.hypotheses[0].confidence < after.hypotheses[0].confidence == 0.6
    assert after.hypotheses[0].why.startswith("Not even a linear fit finds anything")


def test_labels_of_which_a_fit_finds_much_are_no_cause():
    run = record({"target": 0.0}, falls_to=1.9).add_scalar("linear_fit", FIT)
    (one,) = found(run)
    assert not [cause for cause in one.hypotheses if cause.cause.startswith("The labels")]
    assert one.title.startswith("The outputs do not follow their targets")
    assert one.evidence["summary"].endswith("the inputs do tell what is asked for, and belong to it.")


def of_columns(values: Any, ranges: tuple[tuple[float, float], ...] = ((0, 9), (0, 1), (-3, 3))) -> tuple[Run, Any]:
    """Rows of three numbers each, of which one is told not to be followed, and the columns of the targets."""
    run = record({"target": LEARNED}).add_scalar("linear_fit", FIT).add_scalar("unfollowed", values)
    columns = np.tile([[0.0, *one] for one in ranges], (40, 1, 1)).astype(np.float32)

    def feed(engine: Engine) -> Engine:
        nothing = np.full((40, 8), -1, np.int64)
        run.announce(engine)
        engine.feed_columns(0, "target", np.arange(40), columns=columns, bad_rows=nothing, n_bad_rows=nothing[:, 0] + 1)
        return engine

    return run, feed


def test_units_that_died_are_why_a_linear_fit_does_better():
    """That a model could do better says nothing of why it does not."""
    run = beside_a_fit(0.4, last="linear")
    alone = [one.title for one in run.feed().findings()]
    assert alone
    assert all("linear fit" in one for one in alone)
    titles = [
        one.title for one in run.flatten([0], np.where(np.arange(len(run.steps)) < 60, 0.1, 0.7)).feed().findings()
    ]
    assert len(titles) == 1
    assert "have been dead since step 60" in titles[0]


def test_one_of_several_numbers_that_only_a_linear_fit_follows():
    run, feed = of_columns(2.0)
    (one,) = found(run, engine=feed(Engine()))
    assert (one.kind, one.severity, one.evidence["column"]) == ("loss_plateau", "warning", 1)
    assert one.title == "The outputs do not follow column 1 of their targets, and do follow others"
    assert one.hypotheses[0].cause == "The targets are not scaled column by column"
    assert "Column 0 of the targets varies 9 times as much as column 1" in one.hypotheses[0].why


def test_small_columns_of_targets_are_no_small_inputs():
    run, feed = of_columns(np.nan, ((0, 900), (0, 0.5), (0, 900)))
    run.scalars[:, run.scalar_names.index("target_correlation")] = 0.3
    (one,) = found(run, engine=feed(Engine()))
    assert one.title.startswith("A linear fit of the same inputs")
    assert one.hypotheses[0].cause == "The targets are not scaled column by column"
    assert not [cause for cause in one.hypotheses if "inputs are not scaled" in cause.cause]


def test_it_may_be_as_large_as_the_others():
    run, feed = of_columns(3.0)
    (one,) = found(run, engine=feed(Engine()))
    assert one.evidence["column"] == 2
    assert one.hypotheses[0].cause.startswith("The model, its loss or its optimizer")


@pytest.mark.parametrize(
    "values", [0.0, np.nan, np.where(np.arange(N) < 400, 2.0, 0.0), 1.0 + (np.arange(N) // 150) % 2], ids=str
)
def test_all_numbers_are_followed_in_the_end(values):
    assert not found(of_columns(values)[0])


def test_a_number_that_is_followed_at_last():
    (one,) = found(of_columns(np.where(np.arange(N) < 1_500, 2.0, 0.0))[0])
    assert 1_300 < one.last_step < 1_700


@pytest.mark.parametrize(("n_steps", "is_told"), [(260, True), (150, False)])
def test_a_number_that_was_not_followed_to_the_end(n_steps, is_told):
    run = record({"target": LEARNED[:n_steps]}, n_steps=n_steps).add_scalar("unfollowed", 1.0)
    assert bool(found(run, is_over=True)) is is_told
