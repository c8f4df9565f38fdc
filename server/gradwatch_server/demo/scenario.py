"""The catalogue of what the demo can play. Owns names and stories; the trainings themselves stand in ``scripts``.

A scenario's name is for people: no rule of the health engine gets to see it, so no finding can lean on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gradwatch_server.errors import NotFoundError

__all__ = ["SCENARIOS", "TOUR", "Scenario", "choose_scenarios"]

SCRIPTS: Final = Path(__file__).parent / "scripts"
TOUR: Final = "tour"
"""The name that plays several scenarios one after the other."""


@dataclass(frozen=True)
class Scenario:
    """One training of the demo.

    Attributes:
        name: what the user types.
        title: one line for lists.
        story: what happens, and what to look at on the page meanwhile.
        script: the training, a file that also runs alone.
        in_tour: whether the tour plays it.
    """

    name: str
    title: str
    story: str
    script: Path
    in_tour: bool = False


def _catalogue(*scenarios: Scenario) -> dict[str, Scenario]:
    return {scenario.name: scenario for scenario in scenarios}


SCENARIOS: Final[dict[str, Scenario]] = _catalogue(
    Scenario(
        name="healthy",
        title="a small convolutional network learns handwritten digits",
        story="Nothing is wrong here. See how a healthy training looks: the loss falls, every layer keeps its colour.",
        script=SCRIPTS / "healthy.py",
        in_tour=True,
    ),
    Scenario(
        name="norm-mask",
        title="thirty regression tasks, then one at a time: all at once every weight is NaN",
        story=(
            "Calm for 1,000 steps. Then a mask leaves one task alone, with no log and no division in sight. "
            "See which gradient went first."
        ),
        script=SCRIPTS / "norm_mask.py",
        in_tour=True,
    ),
    Scenario(
        name="norm-mask-cured",
        title="the same training with a norm that has a slope at zero",
        story="One function changed. The same 1,000 steps, the same mask, and the training goes on.",
        script=SCRIPTS / "norm_mask_cured.py",
        in_tour=True,
    ),
    Scenario(
        name="softmax-clip",
        title="logits that are logarithms: harmless values, slopes without end, then NaN after the softmax",
        story=(
            "Accuracy rises, and the logits never look worse than -80. Watch how near the logarithm comes to 0, "
            "and how steep it is there, long before anything is NaN."
        ),
        script=SCRIPTS / "softmax_clip.py",
    ),
    Scenario(
        name="softmax-clip-clipped",
        title="the same training with the logits clipped to +-15, a cure that nobody could explain",
        story="No NaN. Behind the clip the gradient is exactly zero: it is the slope that was cut off, not the values.",
        script=SCRIPTS / "softmax_clip_clipped.py",
    ),
    Scenario(
        name="softmax-clip-cured",
        title="the same training with logarithm and sigmoid in one",
        story="One line changed. No clip, no NaN, and every logit keeps its gradient.",
        script=SCRIPTS / "softmax_clip_cured.py",
    ),
    Scenario(
        name="wgan-gp",
        title="a WGAN on tabular data: its gradient penalty is never NaN, its gradient suddenly is",
        story=(
            "Two networks, two optimizers, and a gradient of a gradient. See which of the two goes first, and on which "
            "line."
        ),
        script=SCRIPTS / "wgan_gp.py",
    ),
    Scenario(
        name="wgan-gp-cured",
        title="the same WGAN with a norm that has a slope at zero",
        story="One line changed, in the penalty. The same batches, the same noise, and both networks train on.",
        script=SCRIPTS / "wgan_gp_cured.py",
    ),
    Scenario(
        name="masked-nan",
        title="missing values masked too late: the loss goes up, stays finite, and never moves again",
        story="Outputs and loss are finite at every step. Look at the weights, and at what enters the first layer.",
        script=SCRIPTS / "masked_nan.py",
    ),
    Scenario(
        name="masked-nan-cured",
        title="the same training with the mask before the first layer",
        story="The same rows are missing. The NaN never meets a weight, and the loss falls to the end.",
        script=SCRIPTS / "masked_nan_cured.py",
    ),
    Scenario(
        name="log-zero",
        title="cross-entropy by hand: it learns so well that log(0) is only a question of time",
        story="97 % accurate, and then NaN. See the probability that was too small for a float32.",
        script=SCRIPTS / "log_zero.py",
    ),
    Scenario(
        name="log-zero-cured",
        title="the same training with a loss that is given the scores",
        story="The same network and rate; the loss never forms the probability that it would take the logarithm of.",
        script=SCRIPTS / "log_zero_cured.py",
    ),
    Scenario(
        name="log-clip",
        title="log(0) kept away by a clip: a loss that moves while nothing is learned",
        story="No NaN, and a loss that changes with every batch. Look at the gradients: there are hardly any.",
        script=SCRIPTS / "log_clip.py",
    ),
    Scenario(
        name="log-clip-cured",
        title="the same training with a loss that is given the scores",
        story="The same large inputs. What was held for impossible has a gradient now, and the network learns.",
        script=SCRIPTS / "log_clip_cured.py",
    ),
    Scenario(
        name="learning-rate",
        title="a rate too high: updates as large as the weights, a loss that grows until it overflows",
        story="The first NaN comes last. See how long before it the updates were too large for the weights.",
        script=SCRIPTS / "learning_rate.py",
    ),
    Scenario(
        name="learning-rate-cured",
        title="the same training with a tenth of the rate",
        story="Nothing else changed.",
        script=SCRIPTS / "learning_rate_cured.py",
    ),
    Scenario(
        name="nan-data",
        title="0 / 0 in a few rows of the data: the first batch with one of them ends the training",
        story="The network, the loss and the rate are fine. See which columns of the input are not.",
        script=SCRIPTS / "nan_data.py",
    ),
    Scenario(
        name="nan-data-cured",
        title="the same training with the division done with care",
        story="A value that is 0 throughout grows by 0. The same rows, all of them finite.",
        script=SCRIPTS / "nan_data_cured.py",
    ),
    Scenario(
        name="dead-relu",
        title="ReLU into softmax: most classes fall silent for good, and no number is NaN",
        story="The loss lies flat at a third of what it should reach. See which units give 0 to every image.",
        script=SCRIPTS / "dead_relu.py",
    ),
    Scenario(
        name="dead-relu-cured",
        title="the same training with a linear last layer",
        story="One word less in the model, and every class learns.",
        script=SCRIPTS / "dead_relu_cured.py",
    ),
)


def choose_scenarios(name: str | None) -> list[Scenario]:
    """Finds what to play.

    Args:
        name: a scenario's name; `TOUR`, an empty text or None for the tour.

    Returns:
        The scenarios in the order in which they are played, at least one.

    Raises:
        NotFoundError: the name is not in the catalogue; the message lists those that are.
    """
    if not name or name == TOUR:
        return [scenario for scenario in SCENARIOS.values() if scenario.in_tour]
    if name not in SCENARIOS:
        names = [TOUR, *SCENARIOS]
        raise NotFoundError(
            "unknown_scenario", f"No scenario {name!r}; there are: {', '.join(names)}.", {"found": name, "known": names}
        )
    return [SCENARIOS[name]]
