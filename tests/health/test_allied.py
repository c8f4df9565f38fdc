"""A generator that helps its discriminator, by the outputs and the gradients of a layer that both call."""

from typing import Any

import numpy as np
import pytest

from gradwatch_server.health import Engine
from gradwatch_server.health.finding import Finding
from tests.health.streams import COLUMN, Run, dense

N, BATCH = 120, 64
LOSSES = [{"file": "gan.py", "line": n, "code": f"loss_{n} = bce(y, p)", "excerpt": None} for n in range(2)]
JUDGE = [("judge/kernel", (64, 1), "float32"), ("judge/bias", (1,), "float32")]


def give(run: Run, place: int, *, mean: float, gradient: float, std: float = 0.5, n: int = BATCH) -> None:
    """What one call of the judge gives, and what comes back to it: of one sign, or, for 0, of both."""
    random = np.random.default_rng(place)
    low, high = {1: (0.0, 0.01), -1: (-0.01, 0.0), 0: (-0.01, 0.01)}[int(np.sign(gradient))]
    means = mean + 0.2 * random.standard_normal(run.n_steps)
    output, signal = (int(run.columns(kind, [place])[0]) for kind in ("activation", "backprop"))
    for name, value in {"mean": means, "std": std, "min": mean - 3 * std, "max": mean + 3 * std}.items():
        run.statistics[:, output, COLUMN[name]] = value
    for name, value in {"mean": gradient, "std": 0.001, "min": low, "max": high, "norm": 0.05}.items():
        run.statistics[:, signal, COLUMN[name]] = value
    run.statistics[:, [output, signal], COLUMN["n_elements"]] = n


def share(*runs: Run) -> None:
    """Lets the judge's calls, in several streams' steps, be those of one layer."""
    for run in runs:
        for tensor in run.tensors:
            if tensor["kind"] in ("activation", "backprop"):
                tensor["layer"] = "judge"


def play(
    generated: float,
    *,
    real: float = 3.0,
    fake: float = -3.0,
    is_together: bool = False,
    batch: int = 64,
    asked: tuple[int, int] = (-1, 1),
    own: Any = None,
) -> list[Finding]:
    """A game in which the generator's gradient with respect to the judge's output has a sign.

    Args:
        generated: that sign.
        real: what the judge gives for what is real.
        fake: and for what is generated.
        is_together: whether the judge's step calls it once, for both.
        batch: rows that are fed at a time.
        asked: the signs of the judge's gradient for what is real and for what is generated.
        own: the variables that the generator's step trains.
    """
    calls = ["judge"] if is_together else ["judge", "judge (2)"]
    judge = Run(JUDGE, n_steps=N, optimizer="judge's", layers=[(name, 1, None) for name in calls])
    player = Run(own or dense(2), n_steps=N, stream=1, optimizer="player's", layers=[("judge", 1, None)])
    share(judge, player)
    if is_together:
        give(judge, 0, mean=(real + fake) / 2, std=abs(real - fake) / 2, gradient=0.0, n=2 * BATCH)
    else:
        give(judge, 0, mean=real, gradient=0.005 * asked[0])
        give(judge, 1, mean=fake, gradient=0.005 * asked[1])
    give(player, 0, mean=fake, gradient=0.005 * generated)
    judge.loss_source, player.loss_source = LOSSES
    engine = Engine()
    judge.set_loss(1.0).feed(engine, batch)
    player.set_loss(1.0).feed(engine, batch)
    return [one for one in engine.findings() if "iscriminator" in one.title]


@pytest.mark.parametrize("is_together", [False, True])
@pytest.mark.parametrize("batch", [1, 64])
def test_both_push_the_same_way(is_together: bool, batch: int) -> None:
    (found,) = play(1, is_together=is_together, batch=batch)
    assert (found.kind, found.layer, found.first_step) == ("loss_plateau", "judge", 0)
    assert "both lower" in found.title
    assert found.hypotheses[0].cause.startswith("The generator's loss uses the discriminator's label")


def test_the_line_of_the_loss_at_fault_is_named() -> None:
    """That of the step whose loss it is."""
    assert [play(1)[0].source, play(-1, asked=(-1, -1))[0].source] == [LOSSES[1], LOSSES[0]]


def test_a_judge_whose_labels_are_swapped() -> None:
    """Nothing tells which of the two sides is meant otherwise; ones are usually for what is real."""
    (found,) = play(-1, real=-3.0, fake=3.0, asked=(1, -1))
    assert "both raise" in found.title
    assert [one.cause for one in found.hypotheses] == ["The discriminator's labels (or loss signs) are swapped"]


@pytest.mark.parametrize("generated", [1, -1])
@pytest.mark.parametrize("real", [3.0, 0.1])
def test_a_judge_that_is_asked_for_the_same_of_both(generated: int, real: float) -> None:
    """Whatever it gives, and whatever the generator is asked for."""
    (found,) = play(generated, real=real, fake=0.0, asked=(-1, -1))
    assert "raise its score for real and generated samples alike" in found.title
    assert "same label" in found.hypotheses[0].cause


@pytest.mark.parametrize("is_together", [False, True])
@pytest.mark.parametrize("fake", [-3.0, 2.9])
def test_a_generators_step_that_trains_the_judge_too(fake: float, is_together: bool) -> None:
    """Whatever the judge gives: by then it has been taught to call generated samples real."""
    (found,) = play(-1, fake=fake, is_together=is_together, own=[*JUDGE, *dense(2)])
    assert found.title.startswith("The generator's step trains the discriminator too")
    assert [one.cause for one in found.hypotheses] == [
        "The step of `player's` trains what `judge's` trains as well: one player moves the other"
    ]


@pytest.mark.parametrize("own", [JUDGE, [*JUDGE[:1], *dense(2)]], ids=["the same variables", "some of them"])
def test_steps_that_share_variables_are_no_game_by_that(own: Any) -> None:
    assert play(-1, own=own) == []


@pytest.mark.parametrize("is_together", [False, True])
def test_a_game(is_together: bool) -> None:
    assert play(-1, is_together=is_together) == []


@pytest.mark.parametrize("is_together", [False, True])
def test_what_the_judge_does_not_tell_apart_says_nothing(is_together: bool) -> None:
    assert play(1, real=0.1, fake=0.0, is_together=is_together) == []


@pytest.mark.parametrize("is_together", [False, True])
def test_a_gradient_of_both_signs_says_nothing(is_together: bool) -> None:
    assert play(0, is_together=is_together) == []


def test_an_actor_raises_what_its_critic_gives() -> None:
    """A critic is called once, on as many actions as the actor's: that these are better than most is no alliance."""
    critic = Run(JUDGE, n_steps=N, optimizer="critic's", layers=[("judge", 1, None)])
    actor = Run(dense(2), n_steps=N, stream=1, optimizer="actor's", layers=[("judge", 1, None)])
    give(critic, 0, mean=0.0, std=1.0, gradient=0.0)
    give(actor, 0, mean=2.0, gradient=-0.005)
    assert [one for one in actor.feed(critic.feed()).findings() if "iscriminator" in one.title] == []


def test_a_critic_whose_scores_drift() -> None:
    """It has four steps to each of the generator's, and only what it gives in the same steps can be compared."""
    critic = Run(JUDGE, n_steps=4 * N, optimizer="critic's", layers=[("judge", 1, None), ("judge (2)", 1, None)])
    player = Run(dense(2), n_steps=N, stream=1, optimizer="player's", layers=[("judge", 1, None)])
    share(critic, player)
    give(critic, 0, mean=1.0, gradient=-0.005)
    give(critic, 1, mean=-1.0, gradient=0.005)
    give(player, 0, mean=-1.0, gradient=-0.005)
    player.steps = 4 * player.steps
    for run in (critic, player):
        outputs = run.columns("activation")[-2:] if run is critic else run.columns("activation")
        run.statistics[:, outputs, COLUMN["mean"]] += (2 / 270 * run.steps)[:, None]
    engine = Engine()
    critic.set_loss(1.0).feed(engine)
    player.set_loss(1.0).feed(engine)
    assert [one for one in engine.findings() if "iscriminator" in one.title] == []
