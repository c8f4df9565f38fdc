"""Incidents in words: one finding for each, told by what came first. Owns no detection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

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
from gradwatch_server.health.finding import WARNING, Finding, Hypothesis
from gradwatch_server.health.incident import Incident
from gradwatch_server.health.operation import Account, find_account
from gradwatch_server.health.verdict.advice_growth import advise_climb, advise_small_start, advise_unknown_words
from gradwatch_server.health.verdict.advice_misfit import advise_prior, advise_shrunk, advise_summed, advise_unreduced
from gradwatch_server.health.verdict.advice_nonfinite import advise_beyond
from gradwatch_server.health.verdict.advice_settings import advise_settings
from gradwatch_server.health.verdict.advice_stall import advise_crossing, advise_levelled, advise_mute
from gradwatch_server.health.verdict.advice_zero import advise_untracked, advise_untrained
from gradwatch_server.health.verdict.allied import tell_allied
from gradwatch_server.health.verdict.constant import with_constant
from gradwatch_server.health.verdict.contrary import tell_contrary
from gradwatch_server.health.verdict.correlation import tell_unrelated
from gradwatch_server.health.verdict.decayed import tell_decayed
from gradwatch_server.health.verdict.forecast import tell_forecast
from gradwatch_server.health.verdict.growth import tell_growth, tell_rate
from gradwatch_server.health.verdict.leaked import tell_leaked
from gradwatch_server.health.verdict.linear_fit import with_linear_fit
from gradwatch_server.health.verdict.misfit import (
    tell_behind,
    tell_by_heart,
    tell_collapsed,
    tell_dropped,
    tell_emptied,
    tell_faint,
    tell_forgetting,
    tell_overclipped,
    tell_padded,
    tell_posterior,
    tell_relapse,
    tell_runaway,
    tell_squashed,
    tell_starved,
    tell_stuck,
    tell_summed,
    tell_unheard,
    tell_unreachable,
)
from gradwatch_server.health.verdict.mismatch import tell_mismatch
from gradwatch_server.health.verdict.misset import tell_misset
from gradwatch_server.health.verdict.misshaped import tell_misshaped
from gradwatch_server.health.verdict.nonfinite import tell_nonfinite
from gradwatch_server.health.verdict.order import tell_ordered, with_order
from gradwatch_server.health.verdict.outdated import tell_outdated
from gradwatch_server.health.verdict.own_line import in_own_words
from gradwatch_server.health.verdict.quiet import tell_fade, tell_missing, tell_vanishing, tell_zero
from gradwatch_server.health.verdict.remade import tell_remade
from gradwatch_server.health.verdict.scene import Facts, Scene
from gradwatch_server.health.verdict.skill import tell_unskilled
from gradwatch_server.health.verdict.slips.losses import advise_improbable
from gradwatch_server.health.verdict.stall import (
    tell_alike,
    tell_flat,
    tell_lagging,
    tell_plateau,
    tell_shared_target,
    tell_shrunk,
    tell_smoothed,
    tell_standing,
    tell_still,
    tell_twins,
    tell_undone,
    tell_untaught,
)
from gradwatch_server.health.verdict.steep import tell_cut, tell_steep

__all__ = ["Facts", "limit_repeats", "tell_all"]

REPEATS_LIMIT: Final = 5
"""Findings of one kind about one tensor; further ones are counted in the last: a page of equal sentences tells
nothing."""
STEEP_LIMIT: Final = 1
"""An operation of one line that comes near its singular point, and again, is told once."""
SURE: Final = 0.9
"""A cause as likely as this stands beside a sign that is wrong."""
SHRUNK_SHARE: Final = 0.1
"""Of what the layer behind dead units gave at first: with its own bias it gives something still, unless 0 is asked."""
IDLE_ODDS: Final = 0.1
"""Of the odds of the first cause: a cause with less is left out."""


def tell_all(
    incidents: Sequence[Incident], facts: Facts, recover: Callable[[Episode], Finding | None] | None = None
) -> dict[Episode, Finding]:
    """The findings of incidents by their leads, in their order.

    Forecasts are told first: what came true later names them.

    Args:
        incidents: what is told.
        facts: what else is known of the run.
        recover: asked, while the exception is handled, what to tell instead of an incident whose wording raised one;
            None: the exception goes on.
    """
    told: dict[Episode, Finding] = {}
    for incident in sorted(incidents, key=lambda one: not any(isinstance(member, Trend) for member in one.members)):
        try:
            finding = _tell(incident, facts)
        except Exception:
            if recover is None:
                raise
            instead = recover(incident.lead)
            if instead is None:
                continue
            finding = instead
        told[incident.lead] = finding
        facts.warnings.update({m: finding.id for m in incident.members if isinstance(m, Trend)})
    return {incident.lead: told[incident.lead] for incident in incidents if incident.lead in told}


def _tell(incident: Incident, facts: Facts) -> Finding:
    """The finding of an incident, told by its lead."""
    lead = incident.lead
    scene = Scene(incident, facts, _find_account(incident, facts), _find_steep(lead, facts.questions))
    teller = _TELLERS.get(type(lead))
    if teller is None:
        raise TypeError(f"no verdict for an episode of type {type(lead).__name__}")
    finding = _with_elsewhere(_with_sign(_with_shares(teller(lead, scene), scene), scene), scene)
    finding = with_constant(with_order(_with_loss(finding, scene), lead, facts), lead, facts)
    finding = _without_idle_causes(with_linear_fit(finding, lead, facts))
    return in_own_words(finding, scene.setup)


def _with_shares(finding: Finding, scene: Scene) -> Finding:
    """A finding with the function whose output a loss takes for probabilities, where it broke as that divides them."""
    operation = finding.operation or {}
    scope, line = str(operation.get("name")).rpartition("/")[0], (finding.source or {}).get("line")
    for slip in scene.setup.slips if operation.get("type") == "RealDiv" else ():
        is_there = (str(slip.get("name")).rpartition("/")[0], (slip.get("source") or {}).get("line")) == (scope, line)
        if slip.get("improbable") and is_there:
            return replace(finding, hypotheses=(advise_improbable(slip, is_broken=True), *finding.hypotheses))
    return finding


def _with_sign(finding: Finding, scene: Scene) -> Finding:
    """A finding with the sign that is wrong as its cause, where training climbs the error, beside what is as sure."""
    climb = advise_climb(scene)
    if not climb or isinstance(scene.incident.lead, Misshaped):  # what a slip mixes up has no sign of its own
        return finding
    return replace(finding, hypotheses=(*climb, *(h for h in finding.hypotheses if h.confidence >= SURE)))


def _with_elsewhere(finding: Finding, scene: Scene) -> Finding:
    """A finding with the causes that lie elsewhere than where it shows."""
    lead, causes = scene.incident.lead, list(finding.hypotheses)
    is_alone = len(scene.facts.setups) == 1  # or else another may be given later what this one is not
    if is_alone and isinstance(lead, (Plateau, Unrelated, Unskilled)):
        causes += advise_untrained(scene.setup.untrained)
    if isinstance(lead, (Collapsed, Plateau, Unrelated, Unskilled)):
        causes += advise_untracked(scene.setup.untracked)
    if isinstance(lead, (Collapsed, Flat)) and (small := advise_small_start(scene)):
        # What began next to nothing is flat, or dies, for want of it.
        causes = small
    elif isinstance(lead, Flat) and lead.is_dead and (layers := _find_shrunk(lead, scene)):
        causes = [advise_prior(" and ".join(layers), 0.8)]  # the units died of that
    causes += advise_settings(scene)
    broadcast = next(iter(scene.setup.broadcasts), None)
    if isinstance(lead, (Collapsed, Plateau, SharedTarget, Unrelated, Unskilled)) and broadcast is not None:
        located = advise_crossing(broadcast)
        causes = [located, *(one for one in causes if one.code != located.code)]
        finding = finding if finding.source is not None else replace(finding, source=dict(broadcast["source"]))
    if isinstance(lead, (Growth, Rate, Runaway)) or (isinstance(lead, (Faint, Flat)) and scene.is_thrown):
        causes += advise_summed() if _is_summed(scene) else []
        causes += [advise_unreduced(slip) for slip in scene.setup.slips if "unreduced" in slip][:1]
    if isinstance(lead, (Collapsed, Faint, Flat, Plateau, Unskilled)) and (mute := advise_mute(scene.start)):
        # Units that get nothing but 0 are dead of it, and of nothing else.
        rest = [] if isinstance(lead, Flat) else causes
        causes = [*mute, *(one for one in rest if one.code != mute[0].code)]
    if isinstance(lead, (ByHeart, Collapsed, Flat, Plateau, Unrelated, Unskilled)):
        unknown = advise_unknown_words(scene.start.zero_share)
        # Units that hardly get anything but 0 are dead of it.
        causes = unknown if unknown and isinstance(lead, Flat) else [*causes, *unknown]
    if isinstance(lead, (Collapsed, Faint, Fade, Plateau, Unskilled, Vanishing, Zero)):
        causes = advise_levelled(scene.start) or causes  # it is seen; what else would explain it is guessed
    if isinstance(lead, _IS_THROWN) and scene.start.far is not None:
        causes += advise_beyond(scene.start.far)
    if isinstance(lead, (Collapsed, Fade, Plateau, Unskilled, Vanishing)):
        causes += [one for one in advise_shrunk(scene) if one.cause not in {known.cause for known in causes}]
    if causes == list(finding.hypotheses):
        return finding
    return replace(finding, hypotheses=tuple(sorted(causes, key=lambda cause: -cause.confidence)))


_IS_THROWN: Final = (Collapsed, Faint, Growth, Plateau, Rate, Relapse, Runaway, Unskilled)
"""What numbers that are far too large from the start on may come to."""


def _with_loss(finding: Finding, scene: Scene) -> Finding:
    """A finding with the line that makes the loss, where that is at fault and nothing nearer is known."""
    lead, setups = scene.incident.lead, scene.facts.setups
    if not isinstance(lead, _OF_LOSS) or finding.source is not None:
        return finding
    setup = setups[lead.judge] if isinstance(lead, Allied) and lead.asked in ("alike", "reversed") else scene.setup
    return finding if setup.loss_source is None else replace(finding, source=dict(setup.loss_source))


_OF_LOSS: Final = (Allied, Mismatch, Posterior, SharedTarget, Unheard)
"""What a loss is written wrong for."""


def _find_shrunk(lead: Flat, scene: Scene) -> list[str]:
    """What a penalty took: two layers of one width whose outputs shrank to nothing together, or the next one's."""
    if lead.table is not None and lead.next_share < SHRUNK_SHARE:
        return [lead.table.layer_of(lead.next_column)]
    for one in scene.incident.members:
        if isinstance(one, Faint) and one.table is not None and len(one.columns) > 1:
            first, second = list(one.columns)[:2]
            are_codes = {one.table.functions[first], one.table.functions[second]} <= {None, "linear"}  # no dead units
            if are_codes and one.table.shapes[first] == one.table.shapes[second]:
                return [one.table.layer_of(first), one.table.layer_of(second)]
    return []


def _is_summed(scene: Scene) -> bool:
    """Whether the lead's gradients were sums of all so far by then."""
    lead = scene.incident.lead
    return any(
        isinstance(one, Summed) and one.stream == lead.stream and one.known_step <= lead.last_step
        for one in scene.facts.questions
    )


def _without_idle_causes(finding: Finding) -> Finding:
    """A finding without what is far less likely than its first cause: who reads it at night would go and check."""
    if not finding.hypotheses:
        return finding
    least = IDLE_ODDS * _odds(finding.hypotheses[0])
    return replace(finding, hypotheses=tuple(h for h in finding.hypotheses if _odds(h) >= least))


def _odds(cause: Hypothesis) -> float:
    return cause.confidence / (1.0 - cause.confidence)


_TELLERS: Final[Mapping[type[Episode], Callable[[Any, Scene], Finding]]] = {
    NonFinite: tell_nonfinite,
    Growth: tell_growth,
    Rate: tell_rate,
    Steep: tell_steep,
    Vanishing: tell_vanishing,
    Fade: tell_fade,
    Faint: tell_faint,
    Collapsed: tell_collapsed,
    Unreachable: tell_unreachable,
    Overclipped: tell_overclipped,
    Summed: tell_summed,
    Relapse: tell_relapse,
    Remade: tell_remade,
    Forgetting: tell_forgetting,
    Behind: tell_behind,
    ByHeart: tell_by_heart,
    Runaway: tell_runaway,
    Missing: tell_missing,
    Zero: tell_zero,
    Flat: tell_flat,
    Cut: tell_cut,
    Plateau: tell_plateau,
    Still: tell_still,
    Undone: tell_undone,
    Shrunk: tell_shrunk,
    Dropped: tell_dropped,
    SharedTarget: tell_shared_target,
    Unheard: tell_unheard,
    Mismatch: tell_mismatch,
    Unskilled: tell_unskilled,
    Unrelated: tell_unrelated,
    Starved: tell_starved,
    Emptied: tell_emptied,
    Padded: tell_padded,
    Posterior: tell_posterior,
    Squashed: tell_squashed,
    Stuck: tell_stuck,
    Standing: tell_standing,
    Smoothed: tell_smoothed,
    Lagging: tell_lagging,
    Untaught: tell_untaught,
    Misshaped: tell_misshaped,
    Outdated: tell_outdated,
    Leaked: tell_leaked,
    Ordered: tell_ordered,
    Contrary: tell_contrary,
    Allied: tell_allied,
    Decayed: tell_decayed,
    Misset: tell_misset,
    Alike: tell_alike,
    Twins: tell_twins,
    Trend: tell_forecast,
}


def _find_account(incident: Incident, facts: Facts) -> Account | None:
    """What the operations say about the incident's first NaN or Inf."""
    first = next((m for m in incident.members if isinstance(m, NonFinite) and m.phase is not Phase.INPUT), None)
    if first is None or first.phase in (Phase.UPDATE, Phase.WEIGHT):
        return None  # the gradient was finite: what broke is the optimizer's
    account = find_account(facts.records, facts.origins, first.stream, first.first_step)
    is_fed = isinstance(incident.lead, NonFinite) and incident.lead.phase is Phase.INPUT
    if is_fed and account is not None and account.origin is None and account.culprit is not None:
        return None  # an operation beside the way of the broken input
    if account is None or account.culprit is None:
        return account
    dtype = account.culprit.dtype
    if dtype is None and first.table is not None:
        dtype = first.table.dtype_of_layer(account.culprit.layer)
    return replace(account, dtype=dtype)


def _find_steep(lead: Episode, episodes: Iterable[Episode]) -> Steep | None:
    """An operation that was steep when the lead began."""
    for episode in episodes:
        if isinstance(episode, Steep) and episode.stream == lead.stream and episode is not lead:
            is_over = episode.closed_step is not None and episode.closed_step < lead.first_step
            if episode.first_step <= lead.last_step and not is_over:
                return episode
    return None


def limit_repeats(findings: Sequence[Finding]) -> list[Finding]:
    """Keeps the first `REPEATS_LIMIT` findings of a kind about a tensor, and counts the others in the last one kept."""
    kept: list[Finding] = []
    places: dict[tuple[Any, ...], list[int]] = {}
    for finding in findings:
        line = _steep_line(finding)
        same = places.setdefault((finding.kind, *(line or (finding.tensor, finding.subject))), [])
        if len(same) < (STEEP_LIMIT if line else REPEATS_LIMIT):
            same.append(len(kept))
            kept.append(finding)
            continue
        last = kept[same[-1]]
        n = int(last.evidence.get("n_repeats", 0)) + 1
        title = finding.title if line else last.title  # whether it is over
        evidence = last.evidence | {"n_repeats": n}
        kept[same[-1]] = replace(last, title=title, last_step=finding.last_step, evidence=evidence)
    return kept


def _steep_line(finding: Finding) -> tuple[Any, ...]:
    """The line and the type of a steep operation that broke nothing; empty for anything else."""
    if finding.kind != "steep_gradient" or finding.severity != WARNING or finding.source is None:
        return ()
    return finding.source["file"], finding.source["line"], (finding.operation or {}).get("type")
