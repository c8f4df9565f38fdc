"""One optimizer's stream: its table, its rules, and what they reported under earlier tables. Judges nothing itself."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import find_correlated, is_loss
from gradwatch_server.health.alike import AlikeRule, TwinsRule
from gradwatch_server.health.allied import Scores
from gradwatch_server.health.block import Block
from gradwatch_server.health.book import LEARNING_RATE
from gradwatch_server.health.collapse import CollapseRule
from gradwatch_server.health.constant import ConstantInputs
from gradwatch_server.health.contrary import ContraryRule
from gradwatch_server.health.correlation import CorrelationRule
from gradwatch_server.health.cut import CutRule
from gradwatch_server.health.decayed import DecayedRule
from gradwatch_server.health.direction import Direction
from gradwatch_server.health.dropped import DroppedRule
from gradwatch_server.health.emptied import EmptiedRule
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS, Episode, Phase
from gradwatch_server.health.epsilon import EpsilonRule
from gradwatch_server.health.exploding import ExplodingRule
from gradwatch_server.health.fade import FadeRule
from gradwatch_server.health.faint import FaintRule
from gradwatch_server.health.forecast import ForecastRule
from gradwatch_server.health.forgetting import ForgettingRule
from gradwatch_server.health.inverted import InvertedRule
from gradwatch_server.health.lagging import LaggingRule
from gradwatch_server.health.leaked import LeakedRule
from gradwatch_server.health.learning_rate import LearningRateRule
from gradwatch_server.health.mismatch import MismatchRule
from gradwatch_server.health.misset import MissetRule
from gradwatch_server.health.misshaped import MisshapedRule
from gradwatch_server.health.missing import MissingRule
from gradwatch_server.health.nonfinite import NonFiniteRule
from gradwatch_server.health.operation import OperationRecord, OperationRule, Origin
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.ordered import OrderedRule
from gradwatch_server.health.outdated import OutdatedRule
from gradwatch_server.health.outlier import Outlier, Outliers
from gradwatch_server.health.overclipped import OverclippedRule
from gradwatch_server.health.padded import PaddedRule
from gradwatch_server.health.posterior import PosteriorRule
from gradwatch_server.health.remade import Course
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.shared_target import SharedTargetRule
from gradwatch_server.health.shrunk import ShrunkRule
from gradwatch_server.health.skill import SkillRule
from gradwatch_server.health.smoothed import SmoothedRule
from gradwatch_server.health.squashed import SquashedRule
from gradwatch_server.health.stale import Stale
from gradwatch_server.health.standing import StandingRule
from gradwatch_server.health.start import Start
from gradwatch_server.health.starved import StarvedRule
from gradwatch_server.health.steep import SteepRule
from gradwatch_server.health.still import StillRule
from gradwatch_server.health.stuck import StuckRule
from gradwatch_server.health.summed import SummedRule
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import TargetOrder, TargetSpread, find_heads
from gradwatch_server.health.undone import UndoneRule
from gradwatch_server.health.unheard import UnheardRule
from gradwatch_server.health.unit import FlatRule
from gradwatch_server.health.unreachable import Side, UnreachableRule
from gradwatch_server.health.untaught import UntaughtRule
from gradwatch_server.health.vanishing import VanishingRule
from gradwatch_server.health.witness import WitnessRule
from gradwatch_server.health.zero import ZeroRule

__all__ = ["Rows", "Stream", "read_weights"]

LOSS_SCALE: Final = "loss_scale"
IS_UPDATE: Final = "is_update"
CLIPPED_NORM: Final = "clipped_norm"
SUMS_CLEARED: Final = "sums_cleared"
OUTDATED: Final = "outdated"
ALIKE: Final = "alike"
LINEAR_FIT: Final = "linear_fit"
UNFOLLOWED: Final = "unfollowed"
CONTRASTS: Final = ("contrast_of_inputs", "contrast_of_outputs")
LEAKED: Final = "leaked"

Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]


class _Rule(Protocol):
    """What a rule is: it takes rows, and has episodes."""

    @property
    def episodes(self) -> Sequence[Episode]: ...

    def feed(self, block: Block) -> None: ...


_OF_OUTPUTS: Final = (FlatRule, FaintRule, CollapseRule, LaggingRule)
"""Rules that judge layers by what they gave over many rows."""


class Rows(NamedTuple):
    """Rows of one stream, as `Engine.feed_rows` takes them."""

    steps: Int64
    statistics: Float32
    scalars: Float32
    present: Bool
    operations: Float32

    def take(self, which: slice | Bool) -> Rows:
        """Some of the rows."""
        return Rows(
            self.steps[which],
            self.statistics[which],
            self.scalars[which],
            self.present[which],
            self.operations[which],
        )


class Stream:
    """One stream's table, its rules, and what they reported under earlier tables."""

    def __init__(
        self,
        number: int,
        optimizer: str,
        table: TensorTable,
        scalars: tuple[str, ...],
        *,
        operations: tuple[Operation, ...],
        setup: Setup,
        earlier: Stream | None,
    ) -> None:
        self.number, self.optimizer, self.table, self.scalars = number, optimizer, table, scalars
        self.operations = operations
        self.last_step: int = earlier.last_step if earlier is not None else -1
        self._loss_scale: float = earlier._loss_scale if earlier is not None else np.nan
        self.learning_rate = LearningRateRule(number, table)
        self.start: Start = earlier.start if earlier is not None else Start()
        self.targets = TargetSpread(table)
        self.order = TargetOrder(table)
        self.constants = ConstantInputs(table)
        self.scores = Scores(table)
        self.side = Side.of(number, table, self.scores.layer, is_judge=self.scores.is_trained)
        self.course = Course(table, setup)
        self.stale = Stale(table)
        self.direction = Direction(table)
        self.operation_rule = OperationRule(number, operations)
        self.skill = SkillRule(number, table)
        self.shared_target = SharedTargetRule(number, table)
        self._correlated = {name: target for name in scalars if (target := find_correlated(name)) is not None}
        self.correlation = CorrelationRule(number, table, list(self._correlated.values()))
        copies = UntaughtRule(number, table, setup, is_of_copies=True)
        self.copies = [copies, UntaughtRule(number, table, setup, is_of_copies=True, beside=copies)]
        self.undone = UndoneRule(number, table)
        self.shrunk = ShrunkRule(number, table)
        self.misset = MissetRule(number, setup)
        self.lagging = LaggingRule(number, table)
        of_setup = (
            UntaughtRule(number, table, setup),
            *self.copies,
            MisshapedRule(number, table, setup),
            self.misset,
            self.lagging,
            EpsilonRule(number, table, setup),
            PosteriorRule(number, table, setup),
            LeakedRule(number, table, setup),
            PaddedRule(number, table, setup),
            UnheardRule(number, table, setup),
            *(() if setup.from_tape else (SummedRule(number, table),)),
        )
        known = (self.undone, self.shrunk, self.skill, self.correlation, self.shared_target, *of_setup)
        self.rules = _make_rules(number, table, operations, self.operation_rule, known, setup=setup)
        self._outliers = Outliers(table)
        self._archive = earlier.episodes() if earlier is not None else []
        self._archived_outliers = earlier.outliers() if earlier is not None else []
        self._archived_records = earlier.records() if earlier is not None else []
        self._origins: dict[int, Origin] = {origin.step: origin for origin in earlier.origins()} if earlier else {}
        for episode in self._archive:
            if episode.is_open:
                episode.closed_step = self.last_step + RECOVERY_ROWS

    def episodes(self) -> list[Episode]:
        """All episodes, those under earlier tables first."""
        reported = itertools.chain.from_iterable(rule.episodes for rule in self.rules)
        return [*self._archive, *reported, *self.learning_rate.episodes]

    def records(self) -> list[OperationRecord]:
        """All rows in which an operation began to break, those under earlier tables first."""
        return [*self._archived_records, *self.operation_rule.records]

    def outliers(self) -> list[Outlier]:
        """Inputs out of all proportion, those under earlier tables first."""
        return [*self._archived_outliers, *self._outliers.found]

    def feed(self, block: Block) -> None:
        """Gives rows to all rules but the learning rate's, which answers."""
        self.operation_rule.feed(block)
        sound = block.sound_rows()
        for rule in self.rules:
            rule.feed(sound if isinstance(rule, _OF_OUTPUTS) else block)
        self.start.feed(block, self.operations)
        self.targets.feed(block)
        self.order.feed(block)
        self.constants.feed(block)
        self.scores.feed(block)
        self.side.feed(block)
        self.course.feed(block)
        self.stale.feed(block)
        self.direction.feed(block)
        self._outliers.feed(block)

    def finish(self) -> None:
        """Says that the run has ended."""
        for rule in self.rules:
            if isinstance(rule, MisshapedRule):
                rule.finish()

    def reached(self) -> set[str]:
        """The variables that have had a gradient under the present table."""
        return set().union(*(rule.reached() for rule in self.rules if isinstance(rule, MissingRule)))

    def reached_since(self) -> dict[str, int]:
        """The kernels with a gradient that was not zero under the present table, and the first step of it."""
        return {name: at for rule in self.rules if isinstance(rule, ZeroRule) for name, at in rule.reached().items()}

    def origins(self) -> list[Origin]:
        """What the hook found by computing bad steps again, those under earlier tables first."""
        return list(self._origins.values())

    def add_origin(self, message: Mapping[str, Any]) -> None:
        """Takes one origin; a second one of the same step is a replay."""
        origin = Origin.read(self.number, message, self.operations)
        if origin.step in self._origins:
            return
        if len(self._origins) >= EPISODES_LIMIT:
            if np.isnan(self._loss_scale):
                return
            del self._origins[min(self._origins)]  # loss scaling provokes an overflow now and then; the last one counts
        self._origins[origin.step] = origin

    def make_block(self, rows: Rows) -> Block:
        """The rows with their loss scale: the last one captured holds until the next."""
        scale = self._read_scale(rows)
        is_scaled = ~np.isnan(scale)
        losses = [place for place, name in enumerate(self.scalars) if is_loss(name)]
        is_loss_broken = rows.present[:, losses] & ~np.isfinite(rows.scalars[:, losses])
        return Block(
            table=self.table,
            steps=rows.steps,
            statistics=rows.statistics,
            loss_scale=np.where(is_scaled, scale, 1.0),
            is_scaled=is_scaled,
            operations=rows.operations,
            learning_rate=self._read(rows, LEARNING_RATE),
            loss=self._read_loss(rows),
            is_loss_finite=np.asarray(~is_loss_broken.any(axis=1)),
            clipped_norm=self._read(rows, CLIPPED_NORM),
            is_update=self._read_is_update(rows),
            sums_cleared=self._read(rows, SUMS_CLEARED),
            outdated=self._read(rows, OUTDATED),
            alike=self._read(rows, ALIKE),
            correlations=np.array([self._read(rows, name) for name in self._correlated])
            .reshape(len(self._correlated), len(rows.steps))
            .T,
            linear_fit=self._read(rows, LINEAR_FIT),
            unfollowed=self._read(rows, UNFOLLOWED),
            contrasts=np.stack([self._read(rows, name) for name in CONTRASTS], axis=1),
            leaked=self._read(rows, LEAKED),
        )

    def _read_scale(self, rows: Rows) -> npt.NDArray[np.float64]:
        if LOSS_SCALE not in self.scalars:
            return np.full(len(rows.steps), np.nan)
        place = self.scalars.index(LOSS_SCALE)
        values = rows.scalars[:, place]
        usable = rows.present[:, place] & np.isfinite(values) & (values > 0)
        known = np.concatenate([[self._loss_scale], np.where(usable, values, np.nan)])
        latest = np.maximum.accumulate(np.where(np.isnan(known), 0, np.arange(len(known))))
        self._loss_scale = float(known[latest][-1])
        return np.asarray(known[latest][1:], np.float64)

    def _read_loss(self, rows: Rows) -> npt.NDArray[np.float64]:
        places = [place for place, name in enumerate(self.scalars) if is_loss(name)]
        if not places:
            return np.full(len(rows.steps), np.nan)
        return self._read(rows, self.scalars[min(places, key=lambda place: self.scalars[place] != "loss")])

    def _read(self, rows: Rows, name: str) -> npt.NDArray[np.float64]:
        """``[n]`` a scalar of the stream, NaN where it was not captured."""
        if name not in self.scalars:
            return np.full(len(rows.steps), np.nan)
        place = self.scalars.index(name)
        return np.where(rows.present[:, place], rows.scalars[:, place].astype(np.float64), np.nan)

    def _read_is_update(self, rows: Rows) -> Bool:
        if IS_UPDATE not in self.scalars:
            return np.ones(len(rows.steps), bool)
        place = self.scalars.index(IS_UPDATE)
        return np.asarray(~rows.present[:, place] | (rows.scalars[:, place] != 0))


def _make_rules(
    number: int,
    table: TensorTable,
    operations: tuple[Operation, ...],
    operation_rule: OperationRule,
    known: tuple[_Rule, ...],
    *,
    setup: Setup,
) -> tuple[_Rule, ...]:
    harmed = [NonFiniteRule(number, table, phase) for phase in (Phase.UPDATE, Phase.WEIGHT)]
    broken: tuple[_Rule, ...] = (
        *harmed,
        NonFiniteRule(number, table, Phase.GRADIENT, harmed, operation_rule.began_forward),
        *(WitnessRule(number, table, phase) for phase in (Phase.INPUT, Phase.ACTIVATION, Phase.BACKPROP)),
    )
    if table.replica is not None:
        return broken  # what is merely odd shows in what is applied, and is told once
    return (
        *broken,
        FlatRule(number, table, is_dead=True, opposed=setup.opposed),
        FlatRule(number, table, is_dead=False, opposed=setup.opposed),
        # Of samples that lie farther apart than a margin asks for nothing has a gradient.
        CutRule(number, table, tuple(one for one in operations if one.layer or setup.margin is None)),
        ExplodingRule(number, table),
        VanishingRule(number, table),
        VanishingRule(number, table, is_mild=True),
        FadeRule(number, table),
        FaintRule(number, table),
        CollapseRule(number, table, spreads=setup.spreads),
        SquashedRule(number, table, is_within=False),
        SquashedRule(number, table, is_within=True),
        StuckRule(number, table),
        *(UnreachableRule(number, table, head) for head in find_heads(table)),
        OverclippedRule(number, table),
        StillRule(number, table),
        AlikeRule(number, table, setup.alike),
        TwinsRule(number, table),
        StandingRule(number, table),
        SmoothedRule(number, table),
        OutdatedRule(number),
        OrderedRule(number, table),
        ContraryRule(number, table),
        InvertedRule(number, table),
        DecayedRule(number),
        DroppedRule(number, table),
        EmptiedRule(number, table, operations),
        MismatchRule(number, table, operations),
        *known,
        StarvedRule(number, table),
        ForgettingRule(number, table),
        MissingRule(number, table),
        ZeroRule(number, table, setup),
        SteepRule(number, table, operations),
        ForecastRule(number, table, operations),
    )


def read_weights(block: Block) -> tuple[Int64, npt.NDArray[np.float64]]:
    """The steps at which weights were read, and 1 where all were finite, NaN where not."""
    seen, is_bad = block.find_read(block.table.weight)
    return block.steps[seen], np.where(is_bad, np.nan, 1.0)
