"""What the tellers of verdicts share: the facts around an incident's first step. Words nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from gradwatch_server.health.book import Testimony
from gradwatch_server.health.episode import Episode, Growth, Missing, NonFinite, Phase, Rate, Steep, Vanishing, Zero
from gradwatch_server.health.finding import CRITICAL, WARNING
from gradwatch_server.health.incident import Incident
from gradwatch_server.health.operation import Account
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.series import Reading
from gradwatch_server.health.verdict.operation import say_link

__all__ = ["NAMES_LIMIT", "UPDATE_RATIO", "WEIGHTS_FINITE", "Scene", "kind_of"]

UPDATE_RATIO: Final = "gradwatch/update_ratio"
WEIGHTS_FINITE: Final = "gradwatch/weights_finite"
"""Scalars that the engine itself derives from the rows."""

NAMES_LIMIT: Final = 10
"""Names in a list of evidence; the number of all stands beside it."""


@dataclass(frozen=True)
class Scene:
    """The facts around an incident's first step.

    Attributes:
        incident: the incident.
        testimony: what the scalars say about the lead.
        optimizers: the optimizer's name of each stream.
        last_row: the newest step of which any stream has brought a row.
        account: what the operations say about where its first NaN or Inf came from, or None.
        steep: an operation that was steep at the time, or None.
    """

    incident: Incident
    testimony: Testimony
    optimizers: Mapping[int, str]
    last_row: int
    account: Account | None = None
    steep: Steep | None = None

    @cached_property
    def loss(self) -> Reading:
        """The loss of the lead's first step."""
        return self.testimony.onset.read_loss()

    @property
    def is_loss_finite(self) -> bool | None:
        """Whether the loss of that step was finite; None where it is not recorded."""
        return None if self.loss.value is None else math.isfinite(self.loss.value)

    @property
    def culprit(self) -> Operation | None:
        """The operation that made the first non-finite values of finite ones, if it is known."""
        return self.account.culprit if self.account is not None else None

    @property
    def update_ratio(self) -> float | None:
        """The highest update norm / weight norm in the rows before: the size of the steps that led there."""
        if isinstance(self.incident.lead, Rate):
            return self.incident.lead.ratio
        return self.testimony.onset.read(UPDATE_RATIO).highest

    @property
    def learning_rate(self) -> float | None:
        """The last learning rate known at the lead's step."""
        reading = self.testimony.onset.read("learning_rate")
        return reading.value if reading.value is not None else reading.before

    @property
    def weights_finite_step(self) -> int | None:
        """The last step before the lead's at which all weights (of its stream, if it has one) were read and finite."""
        streams = (
            [self.testimony.onset.stream] if self.testimony.onset.stream in self.optimizers else list(self.optimizers)
        )
        steps = [self.testimony.onset.read(WEIGHTS_FINITE, stream).before_step for stream in streams]
        known = [step for step in steps if step is not None]
        return min(known) if known and len(known) == len(steps) else None

    @property
    def severity(self) -> str:
        """Critical while numbers are broken, and where weights broke; a passed accident is a warning."""
        members = [m for m in self.incident.members if isinstance(m, NonFinite)]
        weights = any(m.phase is Phase.WEIGHT for m in members)
        return CRITICAL if weights or any(m.is_open for m in members) else WARNING

    @property
    def has_recovered(self) -> bool:
        """Whether all of it is over."""
        return not self.incident.is_open

    def evidence(self, summary: str, **numbers: Any) -> dict[str, Any]:
        """The evidence every finding has, and the numbers that its rule looked at."""
        return {
            "summary": summary,
            "chain": self._chain(),
            "flood": self._flood(),
            "n_rows": self.incident.lead.n_rows,
            "is_over": self.has_recovered,
            "loss": self.loss.value,
            "loss_state": _say_state(self.loss.value),
            "loss_before": self.loss.before,
            "learning_rate": self.learning_rate,
            "update_ratio": self.update_ratio,
            "weights_finite_step": self.weights_finite_step,
        } | numbers

    def _chain(self) -> list[dict[str, Any]]:
        chain: list[dict[str, Any]] = []
        several = len({member.stream for member in self.incident.members if member.stream >= 0}) > 1
        link = say_link(self.account) if self.account is not None else None
        # What the forward pass did comes before its loss, what the backward pass did before its gradients.
        phase = Phase.GRADIENT if self.culprit is not None and self.culprit.is_gradient else Phase.LOSS
        for member in self.incident.members:
            if link is not None and (member.first_step, member.phase) >= (link["step"], phase):
                chain.append(link)
                link = None
            what = _what(member)
            if several and member.stream >= 0:
                what += f" ({self.optimizers.get(member.stream, member.stream)})"
            if what not in [known["what"] for known in chain]:
                chain.append({"what": what, "step": member.first_step, "n": _n_first(member)})
        return chain if link is None else [*chain, link]

    def _flood(self) -> list[dict[str, Any]]:
        flood: dict[str, dict[str, Any]] = {}
        for member in self.incident.followers:
            kind = kind_of(member)
            entry = flood.setdefault(kind, {"kind": kind, "first_step": member.first_step, "n_tensors": 0})
            entry["n_tensors"] = max(entry["n_tensors"], _n_all(member))
        return list(flood.values())


def kind_of(episode: Episode) -> str:
    """The finding kind of an episode (docs/contract.md)."""
    if isinstance(episode, NonFinite):
        # A broken update has no kind of its own: it is how the weights break.
        kinds = {Phase.LOSS: "nonfinite_loss", Phase.GRADIENT: "nonfinite_gradient"}
        return kinds.get(episode.phase, "nonfinite_weight")
    kinds_by_type: dict[type[Episode], str] = {
        Growth: "exploding_gradient",
        Rate: "lr_too_high",
        Vanishing: "vanishing_gradient",
        Missing: "missing_gradient",
        Zero: "zero_gradient",
        Steep: "steep_gradient",
    }
    return kinds_by_type[type(episode)]


def _say_state(value: float | None) -> str | None:
    if value is None or math.isfinite(value):
        return None
    return "nan" if math.isnan(value) else "+inf" if value > 0 else "-inf"


def _what(episode: Episode) -> str:
    if isinstance(episode, NonFinite):
        return episode.name if episode.phase is Phase.LOSS else episode.phase.name.lower()
    return {Growth: "gradient norm", Rate: "update ratio", Steep: "steep operation"}.get(type(episode), "gradient")


def _n_first(episode: Episode) -> int:
    """Elements (of a NaN or Inf) or tensors (of anything else) at the first step."""
    if isinstance(episode, NonFinite):
        return 1 if episode.phase is Phase.LOSS else int(episode.counts.sum())
    return _n_all(episode)


def _n_all(episode: Episode) -> int:
    if isinstance(episode, NonFinite):
        return 1 if episode.phase is Phase.LOSS else int((episode.first_steps >= 0).sum())
    if isinstance(episode, (Missing, Zero)):
        return len(episode.positions)
    return max(1, getattr(episode, "n_tensors", 1))
