"""The engine: rows and scalars in, findings out. Owns the rules and who is asked what; words nothing itself."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import OPERATION_STATISTICS, STATISTICS
from gradwatch_server.health.block import Block
from gradwatch_server.health.book import LOGGED, Book, Testimony, is_loss
from gradwatch_server.health.episode import RECOVERY_ROWS, Episode, Phase
from gradwatch_server.health.exploding import ExplodingRule
from gradwatch_server.health.finding import CRITICAL, WARNING, Finding
from gradwatch_server.health.incident import assemble
from gradwatch_server.health.learning_rate import LearningRateRule
from gradwatch_server.health.missing import MissingRule
from gradwatch_server.health.nonfinite import NonFiniteRule, NonFiniteScalarRule
from gradwatch_server.health.operation import OperationRecord, OperationRule
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.steep import SteepRule
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.vanishing import VanishingRule
from gradwatch_server.health.verdict import UPDATE_RATIO, WEIGHTS_FINITE, is_credible, limit_repeats, tell
from gradwatch_server.health.zero import ZeroRule

__all__ = ["Engine"]

LOSS_SCALE: Final = "loss_scale"
ROWS_LIMIT: Final = 1_024
"""Rows looked at together: bounds the memory of a large replay."""

Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]


class _Rule(Protocol):
    """What a rule is: it takes rows, and has episodes."""

    @property
    def episodes(self) -> Sequence[Episode]: ...

    def feed(self, block: Block) -> None: ...


class Engine:
    """The health of one run, or of one worker of it.

    The findings depend on what was fed, not on the sizes of the batches, nor on whether a scalar came before or after
    the rows of its step.
    """

    def __init__(self) -> None:
        """Starts healthy."""
        self._streams: dict[int, _Stream] = {}
        self._scalar_rules: dict[tuple[int, str], NonFiniteScalarRule] = {}
        self._book = Book()
        self._questions: dict[Episode, Testimony] = {}
        self._findings: tuple[Finding, ...] = ()
        self._told: list[dict[str, Any]] = []
        self._revision = 0
        self._is_stale = False

    @property
    def revision(self) -> int:
        """A number that rises whenever the findings change, their last step included."""
        self._refresh()
        return self._revision

    @property
    def level(self) -> str:
        """``healthy``, ``warning`` or ``critical``."""
        severities = {finding.severity for finding in self.findings()}
        return next((level for level in (CRITICAL, WARNING) if level in severities), "healthy")

    def findings(self) -> list[Finding]:
        """All findings, the leading one first: critical before warning, then in order of onset."""
        self._refresh()
        return list(self._findings)

    def add_stream(
        self,
        stream: int,
        optimizer: str,
        tensors: Sequence[Mapping[str, Any]],
        scalars: Sequence[str],
        operations: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Announces a stream, or its changed tensor table: then its rules start anew and its findings stay.

        Args:
            stream: the stream's number.
            optimizer: the optimizer's name, for people.
            tensors: as in the ``tensors`` message of docs/contract.md.
            scalars: names of the scalars in its rows.
            operations: the risky operations in its rows, as in the ``tensors`` message.
        """
        table, ops = TensorTable.from_message(tensors), Operation.table(operations)
        known = self._streams.get(stream)
        now = table.names, table.kinds, ops
        if known is not None and (known.table.names, known.table.kinds, known.operations) == now:
            known.scalars = tuple(scalars)
            return
        self._streams[stream] = _Stream(stream, optimizer, table, tuple(scalars), operations=ops, earlier=known)

    def feed_rows(
        self,
        stream: int,
        steps: Int64,
        statistics: Float32,
        scalars: Float32,
        scalars_present: Bool,
        *,
        operations: Float32 | None = None,
    ) -> None:
        """Takes rows of a stream, in order of steps; rows of steps already taken are a replay, and are left out.

        Args:
            stream: a stream announced by `add_stream`.
            steps: ``[n]``.
            statistics: ``[n, n_tensors, 10]`` in the order of `gradwatch.protocol.STATISTICS`, NaN where not captured.
            scalars: ``[n, n_scalars]``, possibly not finite.
            scalars_present: ``[n, n_scalars]`` whether each was captured.
            operations: ``[n, n_operations, 6]`` in the order of `gradwatch.protocol.OPERATION_STATISTICS`, NaN where
                not captured; None: not captured.

        Raises:
            KeyError: the stream was not announced.
            ValueError: a shape does not fit the stream's tensor table.
        """
        state = self._streams.get(stream)
        if state is None:
            raise KeyError(
                f"stream {stream} was not announced; expected one of {sorted(self._streams)}: call add_stream first"
            )
        expected = (len(steps), state.table.n_tensors, len(STATISTICS)), (len(steps), len(state.scalars))
        if statistics.shape != expected[0] or scalars.shape != expected[1] or scalars_present.shape != expected[1]:
            found = statistics.shape, scalars.shape, scalars_present.shape
            raise ValueError(
                f"stream {stream}: found statistics, scalars and presence of shapes {found}, expected {expected}"
            )
        shape = (len(steps), len(state.operations), len(OPERATION_STATISTICS))
        if operations is None:
            operations = np.full(shape, np.nan, np.float32)
        if operations.shape != shape:
            raise ValueError(f"stream {stream}: found operations of shape {operations.shape}, expected {shape}")
        rows = _Rows(steps, statistics, scalars, scalars_present, operations)
        fresh = steps > np.maximum.accumulate(np.concatenate([[state.last_step], steps[:-1]]))
        if not fresh.all():
            rows = rows.take(fresh)
        for start in range(0, len(rows.steps), ROWS_LIMIT):
            self._take(state, rows.take(slice(start, start + ROWS_LIMIT)))

    def feed_scalar(self, name: str, steps: Int64, values: npt.NDArray[np.floating[Any]]) -> None:
        """Takes values that the user logged, in order of steps; before or after the rows of the same steps."""
        self._take_scalar(LOGGED, name, np.asarray(steps, np.int64), np.asarray(values, np.float64))
        self._ask_questions()

    def _take(self, state: _Stream, rows: _Rows) -> None:
        for place, name in enumerate(state.scalars):
            captured = rows.present[:, place]
            if captured.any():
                values = rows.scalars[captured, place].astype(np.float64)
                self._take_scalar(state.number, name, rows.steps[captured], values)
        state.last_step = int(rows.steps[-1]) if len(rows.steps) else state.last_step
        block = state.make_block(rows)
        # NaN means "not captured": comparing it is meant.
        with np.errstate(invalid="ignore"):
            for rule in state.rules:
                rule.feed(block)
            state.operation_rule.feed(block)
            self._book.feed(state.number, UPDATE_RATIO, *state.learning_rate.feed(block))
            self._book.feed(state.number, WEIGHTS_FINITE, *_read_weights(block))
        self._ask_questions()

    def _take_scalar(self, stream: int, name: str, steps: Int64, values: npt.NDArray[np.float64]) -> None:
        self._book.feed(stream, name, steps, values)
        if is_loss(name):
            rule = self._scalar_rules.setdefault((stream, name), NonFiniteScalarRule(stream, name))
            rule.feed(steps, values)

    def _episodes(self) -> list[Episode]:
        scalar = itertools.chain.from_iterable(rule.episodes for rule in self._scalar_rules.values())
        return [*scalar, *itertools.chain.from_iterable(state.episodes() for state in self._streams.values())]

    def _ask_questions(self) -> None:
        """Asks the scalars about new episodes, while their past is remembered; forgets episodes that were none."""
        episodes = self._episodes()
        self._is_stale = bool(episodes) or bool(self._questions)
        for episode in episodes:
            if episode not in self._questions:
                steps = (episode.first_step, max(episode.known_step, episode.first_step))
                self._questions[episode] = Testimony(*(self._book.ask(episode.stream, step) for step in steps))
        if len(self._questions) > len(episodes):
            kept = set(episodes)
            for episode in [episode for episode in self._questions if episode not in kept]:
                for asked in self._questions.pop(episode):
                    self._book.forget(asked)

    def _refresh(self) -> None:
        if not self._is_stale:
            return
        self._is_stale = False
        credible = [episode for episode in self._questions if is_credible(episode, self._questions[episode])]
        optimizers = {number: state.optimizer for number, state in self._streams.items()}
        last_row = max((state.last_step for state in self._streams.values()), default=-1)
        records = list(itertools.chain.from_iterable(state.records() for state in self._streams.values()))
        findings = limit_repeats(
            [tell(incident, self._questions, optimizers, last_row, records) for incident in assemble(credible)]
        )
        findings.sort(key=lambda finding: finding.severity != CRITICAL)
        told = [finding.to_json() for finding in findings]
        if told != self._told:
            self._findings, self._told = tuple(findings), told
            self._revision += 1


class _Rows(NamedTuple):
    """Rows of one stream, as `Engine.feed_rows` takes them."""

    steps: Int64
    statistics: Float32
    scalars: Float32
    present: Bool
    operations: Float32

    def take(self, which: slice | Bool) -> _Rows:
        """Some of the rows."""
        return _Rows(
            self.steps[which],
            self.statistics[which],
            self.scalars[which],
            self.present[which],
            self.operations[which],
        )


class _Stream:
    """One stream's table, its rules, and what they reported under earlier tables."""

    def __init__(
        self,
        number: int,
        optimizer: str,
        table: TensorTable,
        scalars: tuple[str, ...],
        *,
        operations: tuple[Operation, ...],
        earlier: _Stream | None,
    ) -> None:
        self.number, self.optimizer, self.table, self.scalars = number, optimizer, table, scalars
        self.operations = operations
        self.last_step: int = earlier.last_step if earlier is not None else -1
        self._loss_scale: float = earlier._loss_scale if earlier is not None else np.nan
        self.learning_rate = LearningRateRule(number, table)
        harmed = [NonFiniteRule(number, table, phase) for phase in (Phase.UPDATE, Phase.WEIGHT)]
        self.rules: tuple[_Rule, ...] = (
            *harmed,
            NonFiniteRule(number, table, Phase.GRADIENT, harmed),
            ExplodingRule(number, table),
            VanishingRule(number, table),
            MissingRule(number, table),
            ZeroRule(number, table),
            SteepRule(number, table, operations),
        )
        self.operation_rule = OperationRule(number, operations)
        self._archive = earlier.episodes() if earlier is not None else []
        self._archived_records = earlier.records() if earlier is not None else []
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

    def make_block(self, rows: _Rows) -> Block:
        """The rows with their loss scale: the last one captured holds until the next."""
        scale = np.full(len(rows.steps), np.nan)
        if LOSS_SCALE in self.scalars:
            place = self.scalars.index(LOSS_SCALE)
            values = rows.scalars[:, place]
            usable = rows.present[:, place] & np.isfinite(values) & (values > 0)
            known = np.concatenate([[self._loss_scale], np.where(usable, values, np.nan)])
            latest = np.maximum.accumulate(np.where(np.isnan(known), 0, np.arange(len(known))))
            scale = known[latest][1:]
            self._loss_scale = float(known[latest][-1])
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
            is_loss_finite=np.asarray(~is_loss_broken.any(axis=1)),
        )


def _read_weights(block: Block) -> tuple[Int64, npt.NDArray[np.float64]]:
    """The steps at which weights were read, and 1 where all were finite, NaN where not."""
    weight = block.table.weight
    seen = block.is_captured[:, weight].any(axis=1)
    is_bad = block.is_nonfinite[seen][:, weight].any(axis=1)
    return block.steps[seen], np.where(is_bad, np.nan, 1.0)
