"""Which episodes belong together, and which of them came first. Owns no wording."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gradwatch_server.health.book import LOGGED
from gradwatch_server.health.correlation import RELATED
from gradwatch_server.health.episode import (
    Alike,
    Allied,
    Behind,
    ByHeart,
    Collapsed,
    Contrary,
    Cut,
    Decayed,
    Dropped,
    Emptied,
    Episode,
    Fade,
    Faint,
    Flat,
    Forgetting,
    Growth,
    Lagging,
    Leaked,
    Mismatch,
    MismatchKind,
    Misset,
    Misshaped,
    Missing,
    NonFinite,
    Ordered,
    Outdated,
    Overclipped,
    Padded,
    Phase,
    Plateau,
    Posterior,
    Rate,
    Relapse,
    Remade,
    Runaway,
    SharedTarget,
    Shrunk,
    Smoothed,
    Squashed,
    Standing,
    Starved,
    Steep,
    Still,
    Stuck,
    Summed,
    Trend,
    Twins,
    Undone,
    Unheard,
    Unreachable,
    Unrelated,
    Unskilled,
    Untaught,
    Vanishing,
    Zero,
)
from gradwatch_server.health.ordered import COMES_OF_ORDER
from gradwatch_server.health.runaway import is_driven
from gradwatch_server.health.slip import SlipKind

__all__ = ["BLOCKING_SHARE", "FIRST_STEPS", "Incident", "assemble"]

FIRST_STEPS: Final = 20
"""What grows or breaks within so many steps may have been in the start."""
BLOCKING_SHARE: Final = 0.9
"""From this share of dead or saturated units on a layer passes next to nothing on."""


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


def order_of_onset(episode: Episode) -> tuple[int, int, int, int]:
    """Within a step the inputs come first, then activations, loss, backprop, gradient, update and weight.

    From the gradient on each optimizer goes its own way to its weights, one optimizer after the other. What is formed
    only then comes last.
    """
    is_late = isinstance(episode, NonFinite) and episode.is_late
    part = len(Phase) if is_late else min(episode.phase, Phase.GRADIENT)
    return episode.first_step, int(part), episode.stream, int(episode.phase)


_CAUSES_OF_GUESSING: Final = (
    Remade, Rate, Missing, Standing, Untaught, Misshaped, Padded, Emptied, Contrary, Allied, Dropped, Undone, Shrunk,
    Summed, Mismatch, Steep, SharedTarget, Unreachable, Flat, Cut, Faint, Zero, Unheard, Collapsed, Fade, Alike,
    Vanishing, Overclipped, Starved, Still, Runaway, Relapse, Plateau, Squashed, Stuck, Forgetting, Misset, Decayed,
    Outdated, Posterior, Smoothed, Twins,
)  # fmt: skip
_CAUSES: Final[Mapping[type[Episode], tuple[type[Episode], ...]]] = {
    Cut: (Steep,),
    Trend: (Steep, Trend),
    Flat: (Squashed, Unreachable, Summed, Runaway, Rate),
    Faint: (Flat, Zero, Summed, Unreachable, Rate),
    Squashed: (Flat, Unreachable),
    Stuck: (Flat, Unreachable, Runaway, Rate),
    Collapsed: (
        Allied, Squashed, Stuck, Forgetting, Misshaped, Padded, Emptied, Rate, Runaway, Mismatch, Unreachable, Flat,
        Cut, Faint, Zero, SharedTarget, Smoothed, Summed, Vanishing, Unskilled, Unrelated,
    ),
    Posterior: (Flat, Faint, Collapsed, Zero, Missing, Untaught, Misshaped, Still, Rate, Mismatch, Summed),
    Vanishing: (Smoothed, Squashed, Stuck, Flat, Faint, Zero, Alike, Collapsed, Vanishing, Summed),
    Fade: (Smoothed, Squashed, Stuck, Unreachable, Flat, Cut, Faint, Zero, Collapsed, Fade),
    Zero: (Flat, Cut, Faint, Fade, Unheard, Unreachable, Summed, Twins),
    Mismatch: (Misshaped, Zero),
    SharedTarget: (Misshaped,),
    Decayed: (Still, Misset),
    Undone: (Shrunk,),
    Ordered: (Forgetting, *COMES_OF_ORDER),
    Unheard: (Flat, Cut, Zero, Mismatch),
    Alike: (Flat, Zero, Twins),
    Twins: (Flat,),
    Starved: (Flat, Faint, Vanishing, Zero, Cut, Rate, Summed),
    Still: (Misset, Padded, Emptied, Misshaped, Flat, Faint, Cut, Missing, Vanishing, Zero, Overclipped, Collapsed),
    Rate: (Misset,),
    Runaway: (Misset, Misshaped, Rate, Flat, Mismatch, Runaway, Summed, Unreachable),
    Relapse: (Misset, Rate, Flat, Zero, Runaway, Collapsed, Undone, Summed, Relapse, Forgetting),
    Plateau: (
        Remade, Rate, Steep, Untaught, Misshaped, Padded, Emptied, Contrary, Allied, Unreachable, Flat, Cut, Faint,
        Missing, Alike, Vanishing, Fade, Zero, Still, Overclipped, Relapse, Collapsed, Undone, Shrunk, Dropped,
        Mismatch, Unheard, SharedTarget, Summed, Squashed, Stuck, Forgetting, Misset, Decayed, Outdated, Twins,
        Posterior,
    ),
    Unskilled: _CAUSES_OF_GUESSING,
    Unrelated: (*_CAUSES_OF_GUESSING, Unskilled),
    Behind: (*_CAUSES_OF_GUESSING, Unskilled),
    ByHeart: (Lagging, Dropped, Misshaped, Padded, Emptied, Contrary, Missing, Untaught, Remade),
}  # fmt: skip
"""What a quiet trouble is a consequence of, if both were there at a time."""
_SYMPTOMS: Final = (Plateau, Starved, Collapsed, Alike, Relapse)
"""Of these, what shows that little is learned and not why."""
_GUESSING: Final = (Unskilled, Unrelated)
"""What is known of outputs from the first step on."""
_OF_THE_WHOLE: Final = (Flat, Faint, Collapsed, Rate, Still, Plateau, Relapse, Runaway, Overclipped, Misset)
"""What befalls a whole model: where another head is learned well it explains none that is not."""
_SLIPS: Final = (
    Misset, Remade, Missing, Standing, Untaught, Misshaped, Padded, Emptied, Contrary, Allied, Dropped, Undone, Shrunk,
    Summed, Mismatch,
)  # fmt: skip
"""What stands in the script, and is no symptom of something else."""
_SPOILING: Final = tuple(slip for slip in _SLIPS if slip not in (Missing, Dropped))
"""Slips of which whole layers may suffer."""
_AT_ONCE: Final = (
    *(SlipKind.DIVERGING, SlipKind.DOTTED, SlipKind.FLOORED, SlipKind.MASK, SlipKind.MISWEIGHED, SlipKind.NORMED),
)
"""Slips of which they suffer from the first step on."""
_DRIVING: Final = (SlipKind.STRANGERS,)
"""Slips that drive the weights anywhere."""
_SLIPS_BEHIND: Final[Mapping[type[Episode], tuple[SlipKind, ...]]] = {
    Mismatch: (SlipKind.DOUBLED,),
    Runaway: (SlipKind.EXCHANGED, *_DRIVING),
    Still: (SlipKind.STRAIGHT,),
}
"""The only slips that explain some quiet troubles."""
_SUFFERING: Final = (Flat, Faint, Zero, Collapsed, Vanishing, Fade, Starved)
"""What becomes of layers that are led astray."""
_OF_ONE_SAMPLE: Final = (*_SUFFERING, Alike, Behind, ByHeart, Lagging, Plateau, Unrelated, Unskilled)
"""What becomes of a model all of whose samples are one."""
_PRECEDENCE: Final = (
    Misset, Outdated, Remade, Rate, Missing, Standing, Untaught, Misshaped, Padded, Emptied, Contrary, Allied, Dropped,
    Shrunk, Undone, Summed, Smoothed, Steep, SharedTarget, Unreachable, Squashed, Flat, Twins, Cut, Stuck, Faint, Zero,
    Mismatch, Unheard, Forgetting, Collapsed, Posterior, Fade, Alike, Vanishing, Overclipped, Starved, Still, Decayed,
    Runaway, Relapse, Plateau, Unskilled, Unrelated, Behind, Lagging, ByHeart, Leaked, Ordered, Trend,
)  # fmt: skip


def assemble(episodes: Sequence[Episode]) -> list[Incident]:
    """Folds episodes into incidents, in order of onset.

    What breaks training (growth, NaN, Inf) joins an incident that is not over. A rate that was known to be too high
    when the growth began leads it. Everything else is an incident of its own, unless it began while training was
    broken, or while there was a quiet trouble that explains it: then it is a consequence.
    """
    breaking = [episode for episode in episodes if isinstance(episode, (NonFinite, Growth))]
    rates = [episode for episode in episodes if isinstance(episode, Rate)]
    quiet = [episode for episode in episodes if not isinstance(episode, (NonFinite, Growth, Rate))]
    quiet = _without_guess(_without_twins(quiet))
    chained = [_without_idle_witnesses(group) for group in _chain(_without_normal_overflow(breaking))]
    groups = [group for group in chained if group]
    n_breaking = len(groups)
    quiet = [episode for episode in quiet if not any(_is_said_by(group[0], episode) for group in groups)]
    for rate in rates:
        group = next((group for group in groups if isinstance(group[0], Growth) and _covers(rate, group[0])), None)
        if group is None:
            quiet.append(rate)
        elif rate.known_step < group[0].known_step:
            group.insert(0, rate)
        # Known only afterwards, it stands among the causes of the growth; a finding that is out keeps its name.
    for slip in filter(_is_driving, list(quiet)):
        group = next((g for g in groups if isinstance(g[0], Growth) and slip.known_step < g[0].known_step), None)
        if group is not None:
            quiet.remove(slip)
            group.insert(0, slip)
    for episode in sorted(quiet, key=lambda e: (_precedence(e, quiet), order_of_onset(e))):
        broken = next(
            (g for g in groups[:n_breaking] if _is_before(g[0], episode) and _reaches(g, episode)),
            None,
        )
        cause = broken or next((g for g in groups[n_breaking:] if _has_led_to(g, episode)), None)
        if cause is None:
            groups.append([episode])
        elif broken is None and _is_known_before(episode, cause[0]):
            cause.insert(0, episode)
        else:
            cause.append(episode)
    groups = groups[:n_breaking] + _join(_merge(groups[n_breaking:]))
    incidents = [Incident(group[0], tuple(sorted(group, key=order_of_onset))) for group in groups]
    return sorted(incidents, key=lambda one: (one.lead.began_step, *order_of_onset(one.lead)))


def _is_said_by(lead: Episode, episode: Episode) -> bool:
    """Whether what broke a training at once says itself that its inputs are not scaled, and where."""
    if not (isinstance(episode, Misshaped) and episode.what is SlipKind.UNSCALED):
        return False
    is_of_scale = bool(episode.narrow) and not episode.is_rounded
    return is_of_scale and 0 <= lead.first_step - episode.first_step < FIRST_STEPS


def _is_driving(episode: Episode) -> bool:
    """Whether a quiet trouble drives the weights anywhere, from the first step on."""
    if isinstance(episode, Mismatch):  # no scores can be right for two labels of a sample: they grow without an end
        return episode.kind in (MismatchKind.MANY_LABELS, MismatchKind.NO_LABEL)
    if isinstance(episode, Misset):
        return episode.is_driving
    if isinstance(episode, Runaway):  # a loss without a lower bound is followed down, faster and faster
        return episode.level < 0
    # No more do those that a sigmoid cannot give, where a cross-entropy is to make it.
    return isinstance(episode, Unreachable) or (isinstance(episode, Misshaped) and episode.what in _DRIVING)


def _without_twins(quiet: list[Episode]) -> list[Episode]:
    """Leaves out what is known already: of a layer's output, from another optimizer's stream, or of one line's clip."""
    known: dict[Hashable, Episode] = {}
    left = []
    for one in quiet:
        key: Hashable = one
        if isinstance(one, (Collapsed, Unreachable)) and one.table is not None:
            key = (type(one), one.first_step, one.table.layer_of(one.column))
        elif isinstance(one, Cut) and one.operation is not None and (source := one.operation.source):
            key = (Cut, one.stream, one.column, one.operation.function, source["file"], source["line"])
        first = known.setdefault(key, one)
        if first is one or (first.stream == one.stream and not isinstance(one, Cut)):
            left.append(one)
    return left


def _join(groups: list[list[Episode]]) -> list[list[Episode]]:
    """Makes one of those of one line, one schedule, or of what nothing trains, from several optimizers' streams."""
    known: dict[Hashable, list[Episode]] = {}
    left: list[list[Episode]] = []
    for group in groups:
        first = known.setdefault(_identity(group[0]), group)
        if first is group or first[0].stream == group[0].stream:
            left.append(group)
        else:
            first += group
    return left


def _identity(episode: Episode) -> Hashable:
    if isinstance(episode, Misshaped) and (source := episode.slip.get("source")):
        return episode.what, source["file"], source["line"]
    if isinstance(episode, Decayed):
        return Decayed, episode.first_step, episode.highest
    return (Untaught, episode.layers, episode.variables) if isinstance(episode, Untaught) else episode


def _without_guess(quiet: list[Episode]) -> list[Episode]:
    """Leaves out words without places, which may be meant, where anything else tells why nothing is learned."""
    others = [one for one in quiet if not (isinstance(one, Misshaped) and one.what is SlipKind.UNORDERED)]
    is_known = any(isinstance(one, _CAUSES_OF_GUESSING) and not isinstance(one, _SYMPTOMS) for one in others)
    return others if is_known else quiet


def _merge(groups: list[list[Episode]]) -> list[list[Episode]]:
    """Folds a quiet trouble into what explains it and came before it, though what leads it was found first."""
    left: list[list[Episode]] = []
    for group in sorted(groups, key=lambda one: order_of_onset(one[0])):
        cause = next((g for g in left if _comes_of(group[0], g[0])), None)
        if cause is None:
            left.append(group)
        else:
            cause += group
    return left


def _comes_of(episode: Episode, cause: Episode) -> bool:
    is_before = isinstance(cause, (*_SLIPS, *_GUESSING, Vanishing)) and cause.first_step < episode.first_step
    return is_before and _explains(cause, episode) and not _is_known_before(episode, cause)


def _precedence(episode: Episode, others: Sequence[Episode]) -> float:
    """Causes first; a loss that weights drive away is the cause of what they make of the layers afterwards."""
    if isinstance(episode, Runaway) and is_driven(episode):
        earlier = (other for other in others if isinstance(other, (Flat, Collapsed)))
        if not any(other.first_step < episode.first_step for other in earlier):
            return _PRECEDENCE.index(Summed) + 0.5
    if isinstance(episode, Leaked) and episode.are_alike:
        return -1
    return _PRECEDENCE.index(type(episode))


def _has_led_to(group: Sequence[Episode], episode: Episode) -> bool:
    """Whether what leads a group explains a quiet trouble, or units that updates too large have left dead do."""
    led = [member for member in group if isinstance(member, Flat)] if isinstance(group[0], Rate) else []
    return any(_explains(cause, episode) for cause in (group[0], *led))


def _explains(cause: Episode, episode: Episode) -> bool:
    # Of one sample with many targets nothing but their mean is learned.
    is_of_one_sample = isinstance(cause, Leaked) and cause.are_alike and isinstance(episode, _OF_ONE_SAMPLE)
    is_known = is_of_one_sample or isinstance(cause, _CAUSES.get(type(episode), ()))
    if not (is_known or _is_spoiled(cause, episode)):
        return False
    if _is_of_another_kind(cause, episode) or _is_the_other_way_round(cause, episode):
        return False
    if _is_another_slip(cause, episode) or _is_no_overshoot(cause, episode):
        return False
    if isinstance(cause, _OF_THE_WHOLE) and isinstance(episode, Unrelated) and episode.correlation_of_other >= RELATED:
        return False
    if isinstance(cause, Steep) and isinstance(episode, Cut):
        return True
    # A loss is everybody's; and where one side of a game has won, both are left with nothing.
    is_same = (
        cause.stream in (LOGGED, episode.stream)
        or isinstance(episode, (Plateau, Runaway, Relapse, Behind, ByHeart))
        or isinstance(cause, Fade)
    )
    return is_same and cause.first_step <= _last(episode) and episode.first_step <= _last(cause)


def _is_spoiled(cause: Episode, episode: Episode) -> bool:
    """Whether layers gave out after a slip that may lead them astray; some do it from the first step."""
    is_such = isinstance(cause, _SPOILING) and isinstance(episode, _SUFFERING)
    is_at_once = isinstance(cause, Misshaped) and cause.what in _AT_ONCE and cause.first_step == episode.first_step
    return is_such and (is_at_once or cause.first_step < episode.first_step)


def _is_another_slip(cause: Episode, episode: Episode) -> bool:
    """Whether a slip that might be the cause of a trouble is one that leads to others."""
    if isinstance(cause, Misset):
        return isinstance(episode, Still if cause.is_driving else Rate)
    return isinstance(cause, Misshaped) and cause.what not in _SLIPS_BEHIND.get(type(episode), (cause.what,))


def _is_no_overshoot(cause: Episode, episode: Episode) -> bool:
    """Whether updates too large did not do this to units: they came later, the units began so, or a penalty did it."""
    if not (isinstance(cause, Rate) and isinstance(episode, (Flat, Faint))):
        return False
    is_other = episode.is_first_row if isinstance(episode, Flat) else episode.is_made_small
    return is_other or episode.first_step < cause.first_step


def _is_of_another_kind(cause: Episode, episode: Episode) -> bool:
    """Whether a trouble that might be the cause of another is one that cannot."""
    if isinstance(cause, Runaway) and isinstance(episode, (Flat, Collapsed)):
        return not (is_driven(cause) and cause.first_step <= episode.first_step)
    if isinstance(cause, Steep) and isinstance(episode, (Cut, Trend)):
        return cause.operation != episode.operation
    if isinstance(cause, Trend):  # an operation explains what grows, not the other way round
        return cause.operation is None or getattr(episode, "operation", None) is not None
    if isinstance(cause, Flat) and isinstance(episode, (Vanishing, Zero)):
        # Dead units make zeros, saturated ones make gradients fade, and zeros where all are at their ends.
        is_of_ends = isinstance(episode, Zero) and not cause.is_dead and _is_of_ends(cause, episode)
        return not is_of_ends and cause.is_dead == isinstance(episode, Vanishing)
    if isinstance(cause, Zero) and isinstance(episode, (Vanishing, Fade, Mismatch)):
        return not _is_of_zeros(cause, episode)
    return isinstance(cause, Flat) and not _is_of_units(cause, episode)


def _is_the_other_way_round(cause: Episode, episode: Episode) -> bool:
    """Whether outputs that came to be the same for every sample are the cause of guessing, or come of it.

    Where there is nothing to learn the best that a model can give is the same for all: outputs that come to it when
    most of what was not learned was not learned already come of that. And what was further off than the targets' mean
    before lacked more than what tells samples apart.
    """
    if isinstance(cause, Collapsed) and isinstance(episode, _GUESSING):
        collapsed, guessing = cause, episode
    elif isinstance(cause, _GUESSING) and isinstance(episode, Collapsed):
        collapsed, guessing = episode, cause
    else:
        return False
    share = 0.0 if isinstance(guessing, Unskilled) and guessing.is_worse else 0.5
    is_late = collapsed.first_step - guessing.first_step > share * (guessing.last_step - guessing.first_step)
    return is_late == (cause is collapsed)


def _is_of_zeros(cause: Zero, episode: Episode) -> bool:
    """Whether what happened may come of kernels without a gradient."""
    if isinstance(episode, Mismatch):  # of a loss that hears nothing, more is known
        is_all = cause.table is not None and len(cause.positions) >= len(cause.table.kernels)
        return is_all and cause.first_step <= episode.first_step
    return cause.rounding > 0  # of what cancels out nothing has faded


def _is_of_ends(cause: Flat, episode: Zero) -> bool:
    """Whether kernels without a gradient are those of a layer all of whose units are saturated, or stand before it."""
    table = cause.table
    if table is None or cause.share < 1.0 or episode.rounding > 0:
        return False
    layer, places = table.layer_of(cause.column), table.kernels.tolist()
    own = [place for place in places if table.layer_of_gradient(place) == layer]
    return bool(own) and max(episode.positions, default=-1) <= max(own)


def _is_of_units(cause: Flat, episode: Episode) -> bool:
    """Whether what happened to layers may come of units that gave out."""
    if isinstance(episode, Faint):  # what shrinks before theirs did is not their doing
        since = episode.columns.get(cause.column, 0)
        if cause.share >= BLOCKING_SHARE:
            since = min(since, cause.columns.get(cause.column, since))
        return episode.columns.get(episode.column, 0) >= since
    if isinstance(episode, Unrelated) and not math.isnan(episode.linear_fit):
        return True  # that a model could do better says nothing of why it does not
    # Units that are left could tell samples apart.
    return not isinstance(episode, (Collapsed, Plateau, Unrelated, Unskilled)) or cause.share >= BLOCKING_SHARE


def _is_before(lead: Episode, episode: Episode) -> bool:
    """Whether what breaks training came before an episode; a forecast is as old as its telling, not as its trend.

    What is said of all steps since the first comes of it too, where most of them came after it.
    """
    if isinstance(episode, Trend):
        return lead.known_step <= episode.known_step
    if isinstance(episode, (Plateau, *_GUESSING)):
        return 2 * lead.first_step <= episode.first_step + episode.known_step
    return order_of_onset(lead) <= order_of_onset(episode)


def _is_known_before(episode: Episode, cause: Episode) -> bool:
    """Whether a consequence was told before its cause was known: a finding that is out keeps its name."""
    if isinstance(episode, (Plateau, Unrelated, Unskilled)):
        return False
    if isinstance(episode, Trend):
        return episode.known_step < cause.known_step
    return episode.first_step < cause.first_step and episode.known_step < cause.known_step


def _last(episode: Episode) -> float:
    return math.inf if episode.is_open else episode.last_step


def _without_idle_witnesses(group: list[Episode]) -> list[Episode]:
    """Leaves out inputs, activations and backprop that did no harm, and lets the first cause stand first.

    All -Inf is what a mask looks like: it counts only where something else shows that it spread. That a gradient with
    respect to an activation broke is part of how the gradient broke.
    """
    harm = [e for e in group if not (isinstance(e, NonFinite) and e.is_witness)]
    if not any(isinstance(e, NonFinite) for e in harm):
        return harm
    losses = {e.first_step for e in group if isinstance(e, NonFinite) and e.phase is Phase.LOSS}
    spread = losses | {e.first_step for e in group if isinstance(e, NonFinite) and _is_spread(e)}
    kept = [e for e in group if not (isinstance(e, NonFinite) and _is_idle(e, losses, spread))]
    lead = next((e for e in kept if not (isinstance(e, NonFinite) and e.phase is Phase.BACKPROP)), kept[0])
    return [lead, *(e for e in kept if e is not lead and e.first_step >= lead.first_step)]


def _is_idle(episode: NonFinite, losses: set[int], spread: set[int]) -> bool:
    if not episode.is_witness:
        return False
    if episode.is_contained:
        return episode.first_step not in losses
    return episode.is_negative_only and episode.first_step not in spread


def _is_spread(episode: NonFinite) -> bool:
    """Whether an input or activation held more than a mask does."""
    return episode.phase in (Phase.INPUT, Phase.ACTIVATION) and not episode.is_negative_only


def _chain(episodes: Sequence[Episode]) -> list[list[Episode]]:
    groups: list[list[Episode]] = []
    for episode in sorted(episodes, key=order_of_onset):
        if groups and _reaches(groups[-1], episode):
            groups[-1].append(episode)
        else:
            groups.append([episode])
    return groups


def _reaches(group: Sequence[Episode], episode: Episode) -> bool:
    breaking = (member for member in group if isinstance(member, (NonFinite, Growth)))
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
