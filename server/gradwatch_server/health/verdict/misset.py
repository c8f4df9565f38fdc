"""Words for settings of an optimizer that undo one another."""

from __future__ import annotations

import math

from gradwatch_server.health.episode import Misset
from gradwatch_server.health.finding import Finding
from gradwatch_server.health.misset import find_swapped_betas
from gradwatch_server.health.verdict.advice_settings import advise_betas
from gradwatch_server.health.verdict.scene import Scene, tell

__all__ = ["tell_misset"]


def tell_misset(lead: Misset, scene: Scene) -> Finding:
    """The finding of settings that are known from the first step on."""
    first, second = find_swapped_betas(scene.setup) or (math.nan, math.nan)
    name = scene.setup.optimizer_class or "the optimizer"
    return tell(
        lead,
        scene,
        title=f"`beta_1` and `beta_2` of {name} look swapped: {first:g} and {second:g}",
        evidence=scene.evidence(
            f"{name} was made with beta_1={first:g} and beta_2={second:g}. Adam needs beta_1 below the root of beta_2 "
            "to settle.",
            beta_1=first,
            beta_2=second,
        ),
        hypotheses=advise_betas(scene),
        subject="settings",
    )
