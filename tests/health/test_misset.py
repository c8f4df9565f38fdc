"""Settings of an optimizer that undo one another are told by themselves, whatever the loss does."""

from __future__ import annotations

import numpy as np
import pytest

from gradwatch_server.health import Engine, Finding, Setup
from tests.health.streams import Run, call, dense

SWAPPED = {"class": "AdamW", "beta_1": 0.999, "beta_2": 0.9}


def test_betas_that_are_swapped() -> None:
    (found,) = Run(dense(2), settings=SWAPPED).feed().findings()
    assert (found.kind, found.severity, found.first_step) == ("loss_plateau", "warning", 0)
    assert found.title == "`beta_1` and `beta_2` of AdamW look swapped: 0.999 and 0.9"
    assert (found.evidence["beta_1"], found.evidence["beta_2"]) == (0.999, 0.9)
    assert found.hypotheses[0].fix.endswith("give `beta_1` the smaller one.")


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.999), (0.9, 0.9), (0.95, 0.95), (0.0, 0.9), (0.5, 0.9)], ids=str)
def test_betas_that_fit(first: float, second: float) -> None:
    assert not Run(dense(2), settings={"class": "Adam", "beta_1": first, "beta_2": second}).feed().findings()


def test_a_trial_of_a_few_steps() -> None:
    assert not Run(dense(2), n_steps=40, settings=SWAPPED).feed().findings()


def test_a_loss_that_stands_because_of_it_is_folded() -> None:
    run = Run(dense(2), n_steps=600, settings=SWAPPED)
    run.set_loss(2.3)
    (found,) = run.feed().findings()
    assert "look swapped" in found.title


def test_gradients_that_explode_because_of_it_are_folded() -> None:
    (found,) = Run(dense(2), n_steps=300, settings=SWAPPED).scale("gradient", 1e4, start=200).feed().findings()
    assert "look swapped" in found.title
    assert found.evidence["flood"]


def monitor(text: str) -> dict[str, object]:
    """A call of a callback, as the hook tells of one whose mode goes against what it monitors."""
    return {"calls": [call("monitor", f"slower = «{text}»")], "imports": {}}


@pytest.mark.parametrize(
    ("text", "title", "fixed"),
    [
        (
            'keras.callbacks.ReduceLROnPlateau(monitor="val_loss", mode="max", factor=0.3)',
            'ReduceLROnPlateau takes a rise of val_loss for an improvement: `mode="max"` (train.py:',
            '+ slower = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", mode="min", factor=0.3)',
        ),
        (
            'EarlyStopping("val_accuracy", mode="min")',
            'EarlyStopping takes a fall of val_accuracy for an improvement: `mode="min"` (train.py:',
            '+ slower = EarlyStopping("val_accuracy", mode="max")',
        ),
        (
            'ModelCheckpoint("best.keras", monitor="val_loss", mode="max")',
            'ModelCheckpoint takes a rise of val_loss for an improvement: `mode="max"` (train.py:',
            '+ slower = ModelCheckpoint("best.keras", monitor="val_loss", mode="min")',
        ),
        (
            'ModelCheckpoint("best.keras", "val_auc", mode="min")',
            'ModelCheckpoint takes a fall of val_auc for an improvement: `mode="min"` (train.py:',
            '+ slower = ModelCheckpoint("best.keras", "val_auc", mode="max")',
        ),
    ],
)
def test_a_callback_that_waits_for_the_wrong_change(text: str, title: str, fixed: str) -> None:
    run = Run(dense(2))
    run.script = monitor(text)
    (found,) = run.feed().findings()
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.title.startswith(title)
    assert fixed in found.hypotheses[0].code


FAR = {"class": "Adam", "epsilon": 0.1}


def small(*, settings: dict[str, object] = FAR, gradient: float = 0.1, update: float = 0.01) -> Run:
    """Kernels of 64 by 64 numbers whose gradients have a root mean square of 0.0047, times ``gradient``."""
    return Run(dense(2), settings=settings).scale("gradient", gradient).scale("update", update)


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("every", [1, 8])
def test_an_epsilon_far_above_the_gradients(batch: int, every: int) -> None:
    run = small()
    (found,) = run.thin(every).feed(batch=batch).findings()
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.title.startswith("The epsilon of Adam, 0.1, is ")
    kernels = run.statistics[:, run.columns("gradient", [0, 2]), 0].astype(np.float64) / 64
    assert found.evidence["gradient"] <= kernels.max() * (1 + 1e-6)
    assert found.evidence["ratio"] < 1e-4
    assert found.hypotheses[0].cause == "The epsilon of Adam is far above the gradients"


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(small(update=1.0), id="a rate that makes up for it"),
        pytest.param(small(settings={"class": "Adam", "epsilon": 1e-7}, gradient=1e-9), id="the usual one"),
        pytest.param(small(settings={"class": "SGD", "epsilon": 0.1}), id="an optimizer that has none"),
        pytest.param(small(gradient=1.0), id="gradients that are not far below"),
        pytest.param(small().scale("gradient", 100.0, start=30), id="gradients that grow soon"),
    ],
)
def test_an_epsilon_that_does_no_harm(healthy: Run) -> None:
    assert not [one for one in healthy.feed().findings() if "epsilon" in one.title]


AVERAGED = {"class": "Adam", "use_ema": True, "ema_momentum": 0.999}
FIT_LINE = "model.fit(x, y)"
FIT = {
    "calls": [
        {"role": "fit", "layer": None, "n": 1, "file": "train.py", "line": 9, "begins": 9}
        | {"lines": [FIT_LINE], "start": 0, "end": len(FIT_LINE)}
    ],
    "imports": {},
}


def averaged(n_steps: int = 300, script: dict[str, object] = FIT, **settings: object) -> Run:
    return Run(dense(2), n_steps=n_steps, settings=AVERAGED | settings, script=script)


@pytest.mark.parametrize("batch", [7, 300])
def test_an_average_that_reaches_further_back_than_the_training(batch: int) -> None:
    engine = averaged().feed(batch=batch)
    assert not engine.findings()
    engine.finish()
    (found,) = engine.findings()
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.evidence["first_share"] == pytest.approx(0.999**299)
    assert found.title.startswith("After `fit` the model's weights are 74% those of its first step")
    assert "ema_momentum=0.98" in found.hypotheses[0].code


@pytest.mark.parametrize(
    "run",
    [
        averaged(ema_momentum=0.99),
        averaged(use_ema=False),
        averaged(ema_overwrite_frequency=100),
        averaged(script={}),  # a loop of its own, which may never put the average in place
        averaged(n_steps=40),
    ],
)
def test_an_average_that_fits(run: Run) -> None:
    engine = run.feed()
    engine.finish()
    assert not engine.findings()


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_schedule_that_multiplies_the_present_rate(is_gone: bool) -> None:
    run = Run(dense(2), n_steps=600, settings={"class": "Adam", "learning_rate": 1e-3}).set_loss(1.9)
    run.scalars[:, 1] = 1e-3 * np.exp(-0.1 * (np.arange(600) // 20) ** 2 * is_gone)
    run.script = {"calls": [call("compounded", "    return «lr * 0.9 ** epoch»")], "imports": {}}
    (found,) = run.feed().findings()
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.title.startswith("The learning rate is multiplied anew by a factor that counts from the first epoch")
    assert found.source is not None
    assert "multiplied again by what should be its share of the first one" in found.hypotheses[0].cause
    assert "- return lr * 0.9 ** epoch\n+ return 0.001 * 0.9 ** epoch" in found.hypotheses[0].code


UNAPPLIED = {
    "calls": [call("unapplied", "    optimizer.apply_gradients(zip(«grads», variables))", layer="clipped")],
    "imports": {},
}


@pytest.mark.parametrize("grow", [False, True])
def test_clipped_gradients_that_are_not_applied(grow: bool) -> None:
    run = Run(dense(2), n_steps=300, script=UNAPPLIED)
    if grow:
        run.scale("gradient", 1e4, start=200, stop=230)
    (found,) = run.feed().findings()
    assert (found.kind, found.first_step) == ("exploding_gradient", 0)
    assert found.title == "The gradients are clipped, but the unclipped ones are applied (train.py:7)"
    assert found.source is not None
    assert found.hypotheses[0].code == (
        "- optimizer.apply_gradients(zip(grads, variables))\n+ optimizer.apply_gradients(zip(clipped, variables))"
    )


def summed(n_steps: int, period: int, *, n_zero: int = 0) -> list[Finding]:
    """Of a training that changes its weights once in so many steps; the first gradients are 0 but the last layer's."""
    run = Run(dense(2), n_steps=n_steps, settings={"class": "Adam", "gradient_accumulation_steps": period})
    steps = np.arange(n_steps)
    is_update = (steps + 1) % period == 0
    run.scale("update", is_update.astype(float))
    run.scale("gradient", (steps >= n_zero).astype(float), [0, 1])
    engine = Engine()
    engine.add_stream(0, "adam", run.tensors, ["loss", "is_update"], setup=Setup.of(vars(run)))
    scalars = np.stack([2.3 * np.exp(-steps / 400.0), is_update], 1).astype(np.float32)
    engine.feed_rows(0, run.steps, run.statistics, scalars, np.ones((n_steps, 2), bool))
    engine.finish()
    return list(engine.findings())


def test_weights_that_hardly_ever_change() -> None:
    (found,) = summed(2_000, 256)
    assert (found.kind, found.severity) == ("loss_plateau", "warning")
    assert found.title == "The weights have had 7 updates in 2,000 steps: `gradient_accumulation_steps` is 256"
    assert found.hypotheses[0].cause.startswith("The optimizer hardly ever changes the weights")


@pytest.mark.parametrize(("n_steps", "period"), [(2_000, 64), (400, 64), (2_000, 1)], ids=str)
def test_weights_that_change_often_enough_or_a_trial(n_steps: int, period: int) -> None:
    assert not summed(n_steps, period)


def test_zeros_before_the_first_update_say_nothing() -> None:
    """A last layer that begins at 0 passes nothing back until it is changed for the first time."""
    assert not summed(6_000, 256, n_zero=256)
    assert "zero_gradient" in {found.kind for found in summed(6_000, 256, n_zero=900)}


def warmed(rates: np.ndarray, loss: np.ndarray) -> list[str]:
    """What is told at the end of a training with such rates."""
    run = Run(dense(2), n_steps=len(rates)).set_loss(loss)
    run.scalars[:, 1] = rates
    engine = run.feed()
    engine.finish()
    return [found.title for found in engine.findings()]


RISING = np.repeat(np.linspace(1e-5, 1e-3, 20), 20)
SLOWLY = np.linspace(2.0, 1.4, 400)


@pytest.mark.parametrize(
    ("rates", "loss", "is_told"),
    [
        (RISING, SLOWLY, True),
        (RISING, np.linspace(2.0, 0.5, 400), False),
        (np.concatenate([RISING[::2], np.full(200, 1e-3)]), SLOWLY, False),
        (np.concatenate([RISING[::2], RISING[::-2]]), SLOWLY, False),
        (np.repeat(np.geomspace(1e-5, 1e-2, 20), 20), SLOWLY, False),
        (np.repeat(np.linspace(1e-3, 1.0, 20), 20), SLOWLY, False),
        (np.repeat(np.linspace(5e-4, 1e-3, 20), 20), SLOWLY, False),
        (np.linspace(1e-5, 1e-3, 400), SLOWLY, False),
        (np.repeat(np.linspace(1e-5, 1e-3, 5), 80), SLOWLY, False),
    ],
    ids=["within", "learned", "over", "and down", "looked for", "far", "little", "by steps", "five epochs"],
)
def test_a_training_that_ends_within_its_warm_up(rates: np.ndarray, loss: np.ndarray, is_told: bool) -> None:
    words = "The warm-up counts epochs: the learning rate has only come to 0.001 at the last step"
    assert (words in warmed(rates, loss)) == is_told
