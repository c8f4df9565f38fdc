"""Which episodes belong together, and which of them came first. Owns no wording."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gradwatch_server.health.episode import Episode, Growth, NonFinite, Phase, Rate

__all__ = ["Incident", "assemble"]


@dataclass(frozen=True)
class Incident:
    """Episodes that belong together.

    Attributes:
        lead: the one that came first: the nearest to the cause.
        members: all of them, in order of onset, the lead among them.
    """

    lead: Episode
    members: tuple[Episode, ...]

    @property
    def followers(self) -> tuple[Episode, ...]:
        """What is folded under the lead."""
        return tuple(member for member in self.members if member is not self.lead)

    @property
    def last_step(self) -> int:
        """The last step at which any of it was seen."""
        return max(member.last_step for member in self.members)

    @property
    def is_open(self) -> bool:
        """Whether any of it is still there."""
        return any(member.is_open for member in self.members)

    @property
    def has_nonfinite(self) -> bool:
        """Whether it holds a NaN or an Inf."""
        return any(isinstance(member, NonFinite) for member in self.members)


def order_of_onset(episode: Episode) -> tuple[int, int, int]:
    """Within a step the loss comes first, then gradient, update and weight."""
    return episode.first_step, int(episode.phase), episode.stream


def assemble(episodes: Sequence[Episode]) -> list[Incident]:
    """Folds episodes into incidents, in order of onset.

    What breaks training (growth, NaN, Inf) joins an incident that is not over. A rate that was known to be too high
    when the growth began leads it. Everything else is an incident of its own, unless it began while training was
    broken: then it is a consequence.
    """
    breaking = [episode for episode in episodes if isinstance(episode, (NonFinite, Growth))]
    rates = [episode for episode in episodes if isinstance(episode, Rate)]
    quiet = [episode for episode in episodes if not isinstance(episode, (NonFinite, Growth, Rate))]
    groups = _chain(_without_normal_overflow(breaking))
    alone: list[Episode] = []
    for rate in rates:
        group = next((group for group in groups if isinstance(group[0], Growth) and _covers(rate, group[0])), None)
        if group is None:
            alone.append(rate)
        elif rate.known_step < group[0].known_step:
            group.insert(0, rate)
        # Known only afterwards, it stands among the causes of the growth; a finding that is out keeps its name.
    for episode in alone + quiet:
        broken = next(
            (g for g in groups if order_of_onset(g[0]) <= order_of_onset(episode) and _reaches(g, episode)), None
        )
        if broken is not None:
            broken.append(episode)
        else:
            groups.append([episode])
    incidents = [Incident(group[0], tuple(sorted(group, key=order_of_onset))) for group in groups]
    return sorted(incidents, key=lambda incident: order_of_onset(incident.lead))


def _chain(episodes: Sequence[Episode]) -> list[list[Episode]]:
    groups: list[list[Episode]] = []
    for episode in sorted(episodes, key=order_of_onset):
        if groups and _reaches(groups[-1], episode):
            groups[-1].append(episode)
        else:
            groups.append([episode])
    return groups


def _reaches(group: Sequence[Episode], episode: Episode) -> bool:
    breaking = [member for member in group if isinstance(member, (NonFinite, Growth))]
    return any(episode.first_step <= _end(member) for member in breaking)


def _covers(rate: Episode, growth: Episode) -> bool:
    # On the same step the growth comes first: with SGD a large gradient makes a large update, not the other way round.
    return rate.first_step < growth.first_step <= _end(rate)


def _end(episode: Episode) -> float:
    return math.inf if episode.closed_step is None else episode.closed_step


def _without_normal_overflow(episodes: Sequence[Episode]) -> list[Episode]:
    """Leaves out overflows that loss scaling repaired: those that no update or weight followed."""
    harmed = [e for e in episodes if isinstance(e, NonFinite) and e.phase in (Phase.UPDATE, Phase.WEIGHT)]

    def is_kept(episode: Episode) -> bool:
        if not (isinstance(episode, NonFinite) and episode.is_normal):
            return True
        return any(h.stream == episode.stream and episode.first_step <= h.first_step <= _end(episode) for h in harmed)

    return [episode for episode in episodes if is_kept(episode)]
