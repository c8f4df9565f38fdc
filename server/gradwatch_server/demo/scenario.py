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
