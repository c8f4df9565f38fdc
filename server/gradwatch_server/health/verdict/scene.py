"""What the tellers of verdicts share: the facts around an incident's first step. Words nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from gradwatch_server.health.book import CLIPPED_SHARE, LEARNING_RATE, UPDATE_RATIO, WEIGHTS_FINITE, Testimony
from gradwatch_server.health.constant import ConstantInputs
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
from gradwatch_server.health.exploding import HARM_FACTOR
from gradwatch_server.health.finding import CRITICAL, WARNING, Finding, Hypothesis
from gradwatch_server.health.incident import Incident
from gradwatch_server.health.input_column import InputColumns, InputRecord
from gradwatch_server.health.learning_rate import RATIO_LIMIT
from gradwatch_server.health.operation import Account, OperationRecord, Origin
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.outlier import Outlier
from gradwatch_server.health.series import Reading
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.stale import Stale
from gradwatch_server.health.start import Start
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import TargetOrder
from gradwatch_server.health.verdict.operation import say_link
from gradwatch_server.health.verdict.prophecy import forecast_of, kind_of_trend, say_forecast, say_trend
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_number, say_step

__all__ = ["NAMES_LIMIT", "Facts", "Scene", "kind_of", "table_of", "tell"]

NAMES_LIMIT: Final = 10
"""Names in a list of evidence; the number of all stands beside it."""


FALSE_SHARE: Final = 0.01
"""The part of a weight tensor that must be broken to make the loss false: rare rows of an embedding do not."""


@dataclass(frozen=True)
class Facts:
    """What is known of the whole run.

    Attributes:
        questions: what the scalars say about each episode.
        optimizers: the optimizer's name of each stream.
        replicas: the replica of each stream that holds one's own gradients, before the reduction.
        last_row: the newest step of which any stream has brought a row.
        records: rows in which operations began to break, of all streams.
        origins: what hooks found by computing bad steps again, of all streams.
        columns: what is known of inputs' columns, by stream and name.
        outliers: inputs out of all proportion to those before, of each stream.
        newest_loss: step and value of the newest loss, given a stream.
        starts: how each stream began.
        orders: whether the targets of each stream come in order.
        constants: which inputs of each stream never change.
        linear_fits: how far a linear fit of each stream's inputs follows its first target; NaN where that is not known.
        stales: for how long the gradient of each stream has been the same.
        warnings: the ids of the findings in which forecasts were made, of those that were told already.
        has_operations: whether single operations are looked at at all.
        is_eager: whether steps run eagerly.
        is_climbing: whether training makes an error larger, by its gradient.
        is_upward: whether updates go up the gradient.
        is_of_entropies: whether what is trained on is a cross-entropy, or the negative of one, by its gradient.
        has_own_targets: whether samples of a batch have targets of their own, by the gradient of their outputs.
        setups: how the training of each stream is set up.
        tables: the tensor table of each stream.
    """

    questions: Mapping[Episode, Testimony]
    optimizers: Mapping[int, str]
    replicas: Mapping[int, int]
    last_row: int
    records: Sequence[OperationRecord]
    origins: Sequence[Origin]
    columns: Mapping[tuple[int, str], InputColumns]
    outliers: Mapping[int, Sequence[Outlier]]
    newest_loss: Callable[[int], tuple[int, float] | None]
    starts: Mapping[int, Start]
    orders: Mapping[int, TargetOrder]
    constants: Mapping[int, ConstantInputs]
    linear_fits: Mapping[int, float]
    stales: Mapping[int, Stale]
    warnings: dict[Trend, str]
    has_operations: bool
    is_eager: bool
    is_climbing: bool
    is_upward: bool
    is_of_entropies: bool
    has_own_targets: bool
    setups: Mapping[int, Setup]
    tables: Mapping[int, TensorTable]

    def find_overstep(self) -> tuple[int, int] | None:
        """A stream that trains all that another trains and more, and that other one; None where none does."""
        pairs = itertools.permutations(self.tables, 2)
        return next(((one, other) for one, other in pairs if self.trained[one] > self.trained[other] > set()), None)

    @cached_property
    def is_game(self) -> bool:
        """Whether losses of several streams are made with the same layers, or may be, as those of a GAN's players.

        A policy and a network that tells what a state is worth, each by itself, do not play against each other.
        """
        layers = [{table.layers[column] for column in table.activation.tolist()} for table in self.tables.values()]
        return any(not one or not other or one & other for one, other in itertools.combinations(layers, 2))

    @cached_property
    def trained(self) -> Mapping[int, Set[str]]:
        """The Keras paths of the variables that each stream trains."""
        return {number: table.names_of_gradients(left_out=False) for number, table in self.tables.items()}


@dataclass(frozen=True)
class Scene:
    """The facts around an incident's first step.

    Attributes:
        incident: the incident.
        facts: what is known of the whole run.
        account: what the operations say about where its first NaN or Inf came from, or None.
        steep: an operation that was steep at the time, or None.
    """

    incident: Incident
    facts: Facts
    account: Account | None = None
    steep: Steep | None = None

    @property
    def testimony(self) -> Testimony:
        """What the scalars say about the lead."""
        return self.facts.questions[self.incident.lead]

    @property
    def last_row(self) -> int:
        """The newest step of which any stream has brought a row."""
        return self.facts.last_row

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
    def is_thrown(self) -> bool:
        """Whether these steps were so large that they throw the weights away."""
        return self.update_ratio is not None and self.update_ratio > RATIO_LIMIT

    @property
    def learning_rate(self) -> float | None:
        """The last learning rate known at the lead's step."""
        reading = self.testimony.onset.read(LEARNING_RATE)
        return reading.value if reading.value is not None else reading.before

    @property
    def weights_finite_step(self) -> int | None:
        """The last step before the lead's at which all weights (of its stream, if it has one) were read and finite."""
        own, all_streams = self.testimony.onset.stream, self.facts.optimizers
        streams = [own] if own in all_streams else list(all_streams)
        steps = [self.testimony.onset.read(WEIGHTS_FINITE, stream).before_step for stream in streams]
        known = [step for step in steps if step is not None]
        return min(known) if known and len(known) == len(steps) else None

    @cached_property
    def lost_weights(self) -> NonFinite | None:
        """The first of the incident's broken weights that were whole before, and did not come back.

        Running statistics are no weights: training goes on without them.
        """
        lost = [
            one
            for one in self.broken(Phase.WEIGHT)
            if one.is_open
            and 0 <= one.finite_step < one.first_step
            and one.table is not None
            and (one.counts.sum(axis=1) > 0)[~np.isin(one.table.weight, one.table.states)].any()
        ]
        return min(lost, key=lambda one: one.first_step, default=None)

    def broken(self, phase: Phase) -> list[NonFinite]:
        """The incident's NaN and Inf of one phase."""
        return [m for m in self.incident.members if isinstance(m, NonFinite) and m.phase is phase]

    def input_record(self, episode: NonFinite, name: str) -> InputRecord | None:
        """Which columns and rows of an input were broken when an episode began, where it is known."""
        known = self.facts.columns.get((episode.stream, name))
        return None if known is None else known.find(episode.first_step)

    @cached_property
    def outlier(self) -> Outlier | None:
        """An input that was out of all proportion in the lead's first step, or in the one before."""
        lead = self.incident.lead
        for stream, outliers in self.facts.outliers.items():
            if stream == lead.stream or lead.stream not in self.facts.outliers:
                found = [one for one in outliers if lead.first_step - 1 <= one.step <= lead.first_step]
                if found:
                    return max(found, key=lambda one: one.value / one.before)
        return None

    def outlying_column(self, outlier: Outlier) -> int | None:
        """The feature column that an outlier stands in, where that is known."""
        known = (columns for (_, name), columns in self.facts.columns.items() if name == outlier.tensor)
        return next((place for columns in known if (place := columns.find_outlier(outlier.step)) is not None), None)

    @cached_property
    def false_loss(self) -> float | None:
        """The newest loss, where it is finite although weights have been broken since before it; None elsewhere."""
        weights = [e for e in self.broken(Phase.WEIGHT) if e.is_open and _share(e) >= FALSE_SHARE]
        if not weights:
            return None
        newest = self.facts.newest_loss(weights[0].stream)
        if newest is None or newest[0] <= weights[0].first_step or not math.isfinite(newest[1]):
            return None
        return newest[1]

    @cached_property
    def spoiled(self) -> str | None:
        """A layer whose running statistics have stayed broken since, where something else broke first."""
        for episode in self.broken(Phase.WEIGHT):
            if episode.is_open and episode is not self.incident.lead and episode.table is not None:
                table = episode.table
                broken = table.weight[episode.first_steps >= 0]
                if len(broken) and np.isin(broken, table.states).all():
                    return table.layers[int(broken[0])] or table.names[int(broken[0])]
        return None

    @property
    def start(self) -> Start:
        """How the lead's stream began; of a scalar that belongs to none, how the first one did."""
        starts = self.facts.starts
        return starts.get(self.incident.lead.stream) or next(iter(starts.values()), Start())

    @property
    def setup(self) -> Setup:
        """How the training of the lead's stream is set up; of a scalar that belongs to none, of the only one."""
        setups = self.facts.setups
        own = setups.get(self.incident.lead.stream)
        return own or (next(iter(setups.values())) if len(setups) == 1 else Setup())

    @property
    def gives_one_number(self) -> bool:
        """Whether the last layer of the lead's stream has one unit, as for a label of 0 or 1."""
        table = self.incident.lead.table
        shape = table.shapes[int(table.activation[-1])] if table is not None and len(table.activation) else ()
        return len(shape) > 1 and shape[-1] == 1

    @property
    def clipped_share(self) -> float | None:
        """The usual share of what the optimizer's own clipping touches in a step, 0 to 1; None where not recorded."""
        return self.testimony.known.read(CLIPPED_SHARE).recent

    @property
    def has_states(self) -> bool:
        """Whether layers of the lead's stream keep running statistics, as batch normalisation does."""
        table = self.incident.lead.table
        return table is not None and len(table.states) > 0

    @property
    def is_loss_scaled(self) -> bool:
        """Whether a loss scale is recorded."""
        return self.testimony.known.read("loss_scale").recent is not None

    @property
    def severity(self) -> str:
        """Critical while numbers are broken, where weights broke or grew too far; a passed accident is a warning."""
        members = [m for m in self.incident.members if isinstance(m, NonFinite) and not m.is_witness]
        weights = any(m.phase is Phase.WEIGHT for m in members) or self.has_harm
        return CRITICAL if weights or any(m.is_open for m in members) else WARNING

    @property
    def has_harm(self) -> bool:
        """Whether a growth of the gradient left the weights so much larger that what was learned is lost."""
        grown = (m for m in self.incident.members if isinstance(m, Growth) and m.weight_factor >= HARM_FACTOR)
        return not self.incident.has_nonfinite and any(grown)

    @property
    def has_recovered(self) -> bool:
        """Whether all of it is over."""
        return not self.incident.is_open

    def evidence(self, summary: str, **numbers: Any) -> dict[str, Any]:
        """The evidence every finding has, and the numbers that its rule looked at."""
        if self.false_loss is not None:
            summary += (
                f" The loss still reads {say_number(self.false_loss)}, but with broken weights it is false: it says "
                "nothing about what the model learns."
            )
        if self.spoiled is not None:
            summary += (
                f" The running statistics of {self.spoiled} have not been finite since: training does not show it, "
                "evaluation and what is saved are lost."
            )
        if self.trend is not None and self.trend is not self.incident.lead:
            summary += f" {say_forecast(self.trend)}"
        if self.early_warning is not None:
            lead_steps = (self.early_warning.outcome_step or 0) - self.early_warning.known_step
            summary += (
                f" It was forecast at {say_step(self.early_warning.known_step)}, {say_count(lead_steps, 'step')} "
                f"before: {say_trend(self.early_warning)}."
            )
        replicas = self._replicas()
        if 0 < len(replicas) < len(self.facts.replicas):
            names = list_names([f"replica {one}" for one in replicas])
            summary += f" Of {len(self.facts.replicas)} replicas it was in the own numbers of {names} alone."
        return {
            "summary": summary,
            "replica": replicas[0] if replicas else None,
            "replicas": replicas,
            "chain": self._chain(),
            "flood": self._flood(),
            "n_rows": self.incident.lead.n_rows,
            "is_over": self.has_recovered,
            "loss": self.loss.value,
            "loss_state": _say_state(self.loss.value),
            "loss_before": self.loss.before,
            "loss_is_false": self.false_loss is not None,
            "learning_rate": self.learning_rate,
            "update_ratio": self.update_ratio,
            "weights_finite_step": self.weights_finite_step,
            "forecast": None if self.trend is None else forecast_of(self.trend),
            "early_warning": self._warning(),
        } | numbers

    @cached_property
    def early_warning(self) -> Trend | None:
        """The first forecast of this incident that is a finding of its own, and came true with it."""
        if not self.incident.has_nonfinite:
            return None
        came = [
            episode
            for episode in self.facts.questions
            if isinstance(episode, Trend)
            and episode.outcome_step is not None
            and self.incident.lead.first_step <= episode.outcome_step <= self.incident.last_step
            and episode not in self.incident.members
        ]
        return min(came, key=lambda trend: (trend.known_step, trend.stream), default=None)

    @cached_property
    def trend(self) -> Trend | None:
        """The incident's own forecast: the lead's, or the first that was made while it was open."""
        trends = [member for member in self.incident.members if isinstance(member, Trend)]
        return min(trends, key=lambda trend: (trend is not self.incident.lead, trend.known_step), default=None)

    def _warning(self) -> dict[str, Any] | None:
        trend = self.early_warning
        if trend is None or trend.outcome_step is None:
            return None
        told = self.facts.warnings.get(trend)
        lead_steps = trend.outcome_step - trend.known_step
        return {"id": told, "kind": kind_of_trend(trend), "step": trend.known_step, "lead_steps": lead_steps}

    def _replicas(self) -> list[int]:
        """The replicas whose own numbers were broken when the first NaN or Inf came."""
        broken = [member for member in self.incident.members if isinstance(member, NonFinite)]
        first = min((member.first_step for member in broken), default=-1)
        streams = {member.stream for member in broken if member.first_step == first}
        return sorted(self.facts.replicas[stream] for stream in streams if stream in self.facts.replicas)

    def _chain(self) -> list[dict[str, Any]]:
        chain: list[dict[str, Any]] = []
        several = len({member.stream for member in self.incident.members if member.stream >= 0}) > 1
        link = say_link(self.account) if self.account is not None else None
        # What the forward pass did comes before its loss, what the backward pass did before its gradients.
        phase = Phase.BACKPROP if self.culprit is not None and self.culprit.is_gradient else Phase.ACTIVATION
        lead, members = self.incident.lead, self.incident.members
        if not isinstance(lead, NonFinite):  # of quiet troubles of one step the lead is what led to the others
            members = (lead, *self.incident.followers)
        for member in members:
            if member.first_step < lead.first_step:
                continue
            if link is not None and (member.first_step, member.phase) >= (link["step"], phase):
                chain.append(link)
                link = None
            what = _what(member)
            if several and member.stream >= 0:
                what += f" ({self.facts.optimizers.get(member.stream, member.stream)})"
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


def table_of(lead: Episode) -> TensorTable:
    """The tensor table of an episode's stream.

    Raises:
        ValueError: it is an episode of a scalar that belongs to none.
    """
    if lead.table is None:
        raise ValueError(f"an episode of type {type(lead).__name__} needs the tensor table of its stream, found none")
    return lead.table


def tell(
    lead: Episode,
    scene: Scene,
    *,
    title: str,
    evidence: dict[str, Any],
    hypotheses: Sequence[Hypothesis],
    severity: str = WARNING,
    layer: str | None = None,
    tensor: str | None = None,
    operation: dict[str, str] | None = None,
    source: dict[str, Any] | None = None,
    subject: str | None = None,
) -> Finding:
    """The finding of an incident, of its leading episode's kind and steps; the rest as in `Finding`.

    It is as grave as what it led to.
    """
    return Finding(
        kind=kind_of(lead),
        severity=CRITICAL if CRITICAL in (severity, scene.severity) else WARNING,
        first_step=lead.first_step,
        last_step=scene.incident.last_step,
        title=title,
        layer=layer,
        tensor=tensor,
        evidence=evidence,
        hypotheses=tuple(hypotheses),
        operation=operation,
        source=source,
        subject=subject,
    )


def kind_of(episode: Episode) -> str:
    """The finding kind of an episode (docs/contract.md)."""
    if isinstance(episode, NonFinite):
        return _KINDS[episode.phase]
    kinds_by_type: dict[type[Episode], str] = {
        Growth: "exploding_gradient",
        Rate: "lr_too_high",
        Vanishing: "vanishing_gradient",
        Fade: "vanishing_gradient",
        Faint: "dead_units",
        Unreachable: "saturated_activation",
        Overclipped: "vanishing_gradient",
        Runaway: "exploding_gradient",
        Summed: "exploding_gradient",
        Relapse: "loss_plateau",
        Remade: "loss_plateau",
        Forgetting: "loss_plateau",
        Behind: "loss_plateau",
        ByHeart: "loss_plateau",
        Missing: "missing_gradient",
        Zero: "zero_gradient",
        Steep: "steep_gradient",
        Cut: "zero_gradient",
        Plateau: "loss_plateau",
        Still: "loss_plateau",
        Undone: "loss_plateau",
        Shrunk: "loss_plateau",
        Dropped: "dead_units",
        SharedTarget: "loss_plateau",
        Unheard: "zero_gradient",
        Mismatch: "loss_plateau",
        Unskilled: "loss_plateau",
        Unrelated: "loss_plateau",
        Starved: "vanishing_gradient",
        Emptied: "loss_plateau",
        Padded: "loss_plateau",
        Posterior: "dead_units",
        Squashed: "saturated_activation",
        Stuck: "saturated_activation",
        Standing: "loss_plateau",
        Smoothed: "dead_units",
        Lagging: "loss_plateau",
        Untaught: "missing_gradient",
        Misshaped: "loss_plateau",
        Outdated: "loss_plateau",
        Leaked: "loss_plateau",
        Ordered: "loss_plateau",
        Contrary: "loss_plateau",
        Allied: "loss_plateau",
        Decayed: "loss_plateau",
        Misset: "loss_plateau",
        Alike: "dead_units",
        Twins: "dead_units",
        Collapsed: "dead_units",
    }
    if isinstance(episode, Trend):
        return kind_of_trend(episode)
    if isinstance(episode, Flat):
        return "dead_units" if episode.is_dead else "saturated_activation"
    if isinstance(episode, Collapsed) and episode.is_at_ends:
        return "saturated_activation"
    if isinstance(episode, Misset) and episode.is_unclipped:
        return "exploding_gradient"
    return kinds_by_type[type(episode)]


_KINDS: Final = {
    Phase.INPUT: "nonfinite_input",
    Phase.ACTIVATION: "nonfinite_activation",
    Phase.LOSS: "nonfinite_loss",
    # What has no kind of its own is how the next one breaks.
    Phase.BACKPROP: "nonfinite_gradient",
    Phase.GRADIENT: "nonfinite_gradient",
    Phase.UPDATE: "nonfinite_weight",
    Phase.WEIGHT: "nonfinite_weight",
}


def _share(episode: NonFinite) -> float:
    """The largest broken part of one of an episode's trained weights, at its first step."""
    if episode.table is None:
        return 0.0
    sizes = np.maximum(episode.table.n_elements[episode.table.weight], 1.0)
    is_trained = ~np.isin(episode.table.weight, episode.table.states)
    return float((episode.counts.sum(axis=1) / sizes)[is_trained].max(initial=0.0))


def _say_state(value: float | None) -> str | None:
    if value is None or math.isfinite(value):
        return None
    return "nan" if math.isnan(value) else "+inf" if value > 0 else "-inf"


def _what(episode: Episode) -> str:
    if isinstance(episode, NonFinite):
        return episode.name if episode.phase is Phase.LOSS else episode.phase.name.lower()
    if isinstance(episode, Flat):
        return f"{'dead' if episode.is_dead else 'saturated'} units"
    return _WHATS.get(type(episode), "gradient")


_WHATS: Final[Mapping[type[Episode], str]] = {
    Growth: "gradient norm",
    Rate: "updates that are too large",
    Steep: "steep operation",
    Missing: "gradients that are None",
    Zero: "gradients that are 0",
    Vanishing: "gradients that vanish",
    Fade: "gradients that fade",
    Cut: "zeros in the gradient",
    Plateau: "loss",
    Runaway: "loss",
    Relapse: "loss",
    Remade: "an optimizer that is made anew",
    Forgetting: "what is learned of classes",
    Behind: "loss",
    ByHeart: "validation loss",
    Faint: "outputs that shrink to nothing",
    Unreachable: "targets out of reach",
    Overclipped: "clipping",
    Summed: "sums of gradients",
    Still: "weights that stand still",
    Undone: "weights that are put back",
    Shrunk: "weights that are made smaller",
    Dropped: "units that are dropped",
    SharedTarget: "targets that are shared",
    Unheard: "samples without a gradient",
    Mismatch: "a last layer that does not fit the loss",
    Unskilled: "predictions no better than guessing",
    Unrelated: "outputs that do not follow their targets",
    Ordered: "labels that come in order",
    Contrary: "class weights",
    Allied: "a game without opponents",
    Decayed: "a learning rate that has gone",
    Misset: "settings of the optimizer",
    Starved: "weights that hardly move",
    Emptied: "divisors of 0",
    Padded: "sequences that end in padding",
    Posterior: "a latent code that tells nothing",
    Squashed: "outputs at their ends",
    Stuck: "gates that are stuck",
    Standing: "running statistics that stand still",
    Smoothed: "samples that become alike",
    Lagging: "running statistics that lag behind",
    Untaught: "layers frozen as they were made",
    Misshaped: "a slip in the step",
    Outdated: "numbers of the first trace",
    Leaked: "targets among the inputs",
    Alike: "units that are alike",
    Twins: "kernels that are copies",
    Collapsed: "outputs that are alike",
    Trend: "trend",
}


def _n_first(episode: Episode) -> int:
    """Elements (of a NaN or Inf) or tensors (of anything else) at the first step."""
    if isinstance(episode, NonFinite):
        return 1 if episode.phase is Phase.LOSS else int(episode.counts.sum())
    return _n_all(episode)


def _n_all(episode: Episode) -> int:
    if isinstance(episode, NonFinite):
        return 1 if episode.phase is Phase.LOSS else int((episode.first_steps >= 0).sum())
    if isinstance(episode, (Missing, Zero, Alike, Shrunk, Twins, Starved, Stuck)):
        return len(episode.positions)
    if isinstance(episode, (Flat, Collapsed, Squashed)):
        return len(episode.columns)
    return max(1, getattr(episode, "n_tensors", 1))
