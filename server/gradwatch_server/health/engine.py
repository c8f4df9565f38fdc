"""The engine: rows and scalars in, findings out. Owns the rules and who is asked what; words nothing itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import OPERATION_STATISTICS, STATISTICS, is_loss
from gradwatch_server.health.allied import AlliedRule
from gradwatch_server.health.baseline import Baseline
from gradwatch_server.health.behind import BehindRule
from gradwatch_server.health.book import (
    CLIPPED_SHARE,
    GRADIENT_NORM,
    KERNEL_NORM,
    LOGGED,
    UPDATE_RATIO,
    WEIGHTS_FINITE,
    Book,
    Testimony,
)
from gradwatch_server.health.by_heart import VALIDATION_LOSS, ByHeartRule
from gradwatch_server.health.credibility import LEARNED_SHARE, is_credible, is_overfit
from gradwatch_server.health.episode import (
    Behind,
    ByHeart,
    Collapsed,
    Episode,
    Fade,
    Faint,
    Flat,
    Growth,
    Lagging,
    Mismatch,
    Misshaped,
    Missing,
    NonFinite,
    Phase,
    Plateau,
    Rate,
    Relapse,
    Remade,
    Runaway,
    Unrelated,
    Unskilled,
    Zero,
)
from gradwatch_server.health.finding import CRITICAL, WARNING, Finding
from gradwatch_server.health.incident import BLOCKING_SHARE, assemble
from gradwatch_server.health.input_column import ROUNDED_SHARE, InputColumns
from gradwatch_server.health.nonfinite import NonFiniteScalarRule
from gradwatch_server.health.operation import Account, find_account
from gradwatch_server.health.operation_table import Operation, find_lone_softmax
from gradwatch_server.health.plateau import PlateauRule, compare_level, count_classes
from gradwatch_server.health.relapse import RelapseRule
from gradwatch_server.health.remade import RemadeRule
from gradwatch_server.health.runaway import RunawayRule
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.start import read_kernels
from gradwatch_server.health.stream import Rows, Stream, read_weights
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.unreachable import find_out_of_reach
from gradwatch_server.health.verdict import Facts, limit_repeats, tell_all

__all__ = ["Engine"]

GROWN_FACTOR: Final = 2.0
"""Times as large as they were: weights that a growth has changed for good."""
HEALED_STEPS: Final = 100
"""Some trainings find their way out of a plateau on which nothing is told apart yet: what was over so soon, or has been
over for as long, and is no guessing, was no trouble."""
STAGE_STEPS: Final = 200
"""Steps without one of a stream's own, at the least, until its stage of the training is over."""
ROWS_LIMIT: Final = 1_024
"""Rows looked at together: bounds the memory of a large replay."""


Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]


class LossRules(NamedTuple):
    """What watches one loss."""

    plateau: PlateauRule
    nonfinite: NonFiniteScalarRule
    runaway: RunawayRule
    relapse: RelapseRule
    behind: BehindRule


class Engine:
    """The health of one run, or of one worker of it.

    The findings depend on what was fed, not on the sizes of the batches, nor on whether a scalar came before or after
    the rows of its step.

    Args:
        baseline: the last healthy run of the same script, if there is one.
        on_failure: called with the name of a kind of episode, while the exception is handled, where the words for one
            raised it: then it stays as it was last told, and the others are told. None: the exception goes on.
    """

    def __init__(self, baseline: Baseline | None = None, on_failure: Callable[[str], None] | None = None) -> None:
        self._baseline, self._on_failure = baseline, on_failure
        self._streams: dict[int, Stream] = {}
        self._scalar_rules: dict[tuple[int, str], LossRules] = {}
        self._setups: dict[int, Setup] = {}
        self._columns: dict[tuple[int, str], InputColumns] = {}
        self._by_heart = ByHeartRule()
        self._allied = AlliedRule()
        self._remade = RemadeRule()
        self._first_losses: dict[tuple[int, str], float] = {}
        self._book = Book()
        self._questions: dict[Episode, Testimony] = {}
        self._findings: tuple[Finding, ...] = ()
        self._worded: dict[Episode, Finding] = {}
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
        *,
        operations: Sequence[Mapping[str, Any]] = (),
        setup: Setup = Setup(),  # noqa: B008  (it cannot be changed)
    ) -> None:
        """Announces a stream, or its changed tensor table: then its rules start anew and its findings stay.

        Args:
            stream: the stream's number.
            optimizer: the optimizer's name, for people.
            tensors: as in the ``tensors`` message of docs/contract.md.
            scalars: names of the scalars in its rows.
            operations: the risky operations in its rows, as in the ``tensors`` message.
            setup: how the training is set up beside them.
        """
        self._setups[stream] = setup
        table, ops = TensorTable.from_message(tensors, loops=setup.loops), Operation.table(operations)
        known = self._streams.get(stream)
        now = table.names, table.kinds, ops
        if known is not None and (known.table.names, known.table.kinds, known.operations) == now:
            known.scalars = tuple(scalars)
            return
        self._streams[stream] = Stream(
            stream, optimizer, table, tuple(scalars), operations=ops, setup=setup, earlier=known
        )
        for (source, _), rules in self._scalar_rules.items():
            rules.plateau.n_classes = self._count_classes(source)

    def feed_rows(
        self,
        stream: int,
        steps: Int64,
        statistics: Float32,
        scalars: Float32,
        scalars_present: Bool,
        *,
        operations: Float32 | None = None,
        origins: Sequence[Mapping[str, Any]] = (),
        assigned: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Takes rows of a stream, in order of steps; rows of steps already taken are a replay, and are left out.

        Args:
            stream: a stream announced by `add_stream`.
            steps: ``[n]``.
            statistics: ``[n, n_tensors, n_statistics]`` in the order of `gradwatch.protocol.STATISTICS`, NaN where not
                captured.
            scalars: ``[n, n_scalars]``, possibly not finite.
            scalars_present: ``[n, n_scalars]`` whether each was captured.
            operations: ``[n, n_operations, 6]`` in the order of `gradwatch.protocol.OPERATION_STATISTICS`, NaN where
                not captured; None: not captured.
            origins: as in the ``rows`` message; of these rows or earlier ones.
            assigned: likewise.

        Raises:
            KeyError: the stream was not announced.
            ValueError: a shape does not fit the stream's tensor table.
        """
        state = self._find(stream)
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
        rows = Rows(steps, statistics, scalars, scalars_present, operations)
        fresh = steps > np.maximum.accumulate(np.concatenate([[state.last_step], steps[:-1]]))
        if not fresh.all():
            rows = rows.take(fresh)
        for one in assigned:
            (state.shrunk if one["left"] is None else state.undone).note_assigned(one)
        for origin in origins:
            state.add_origin(origin)
            self._is_stale = bool(self._questions)
        for start in range(0, len(rows.steps), ROWS_LIMIT):
            self._take(state, rows.take(slice(start, start + ROWS_LIMIT)))

    def feed_columns(
        self,
        stream: int,
        tensor: str,
        steps: Int64,
        *,
        columns: Float32,
        bad_rows: Int64,
        n_bad_rows: Int64,
    ) -> None:
        """Takes what a ``columns`` message says of an input, in order of steps; before or after the rows.

        Args:
            stream: a stream announced by `add_stream`.
            tensor: the input's name.
            steps: ``[n]``.
            columns: ``[n, n_columns, 3]`` number of non-finite elements, min and max of each feature column.
            bad_rows: ``[n, 8]`` the first rows of the batch that are not finite, -1 for none.
            n_bad_rows: ``[n]`` how many are not.

        Raises:
            KeyError: the stream was not announced.
        """
        self._find(stream)
        known = self._columns.setdefault((stream, tensor), InputColumns())
        known.feed(np.asarray(steps, np.int64), columns, bad_rows, n_bad_rows)
        self._is_stale = self._is_stale or bool(self._questions)

    def feed_scalar(self, name: str, steps: Int64, values: npt.NDArray[np.floating[Any]]) -> None:
        """Takes values that the user logged, in order of steps; before or after the rows of the same steps."""
        self._take_scalar(LOGGED, name, np.asarray(steps, np.int64), np.asarray(values, np.float64))
        self._ask_questions()

    def finish(self) -> None:
        """Says that the run has ended, so that nothing is waited for any more; it may go on all the same."""
        has_classes = all(math.isnan(state.targets.variance) for state in self._streams.values())
        for (_, name), rules in self._scalar_rules.items():
            if self._is_total(name):  # a part may be meant to stay at guessing, as that of an adversary
                rules.plateau.finish(has_classes=has_classes)
        if len(players := self._players()) == 1:  # in a game a player at its end may well guess
            players[0].skill.finish()
            players[0].correlation.finish()
        for state in self._applied():
            for rule in state.copies:
                rule.finish()
            state.misset.finish(is_alone=len(self._streams) == 1)
            state.lagging.finish()
            state.finish()
        self._ask_questions()

    def _applied(self) -> list[Stream]:
        """The streams of what is applied, not those of single replicas."""
        return [state for state in self._streams.values() if state.table.replica is None]

    def _players(self) -> list[Stream]:
        """Those of them that train in turn, or alone: not those of an earlier stage, which is long over.

        Two players may take turns by epochs. Who has not trained for as long as it did, and for two hundred steps at
        least, is none any more.
        """
        applied = self._applied()
        last = max((one.last_step for one in applied), default=-1)
        return [
            one
            for one in applied
            if one.course.first_step < 0 or last - one.last_step < max(one.course.n_steps, STAGE_STEPS)
        ]

    def _find(self, stream: int) -> Stream:
        state = self._streams.get(stream)
        if state is None:
            raise KeyError(
                f"stream {stream} was not announced; expected one of {sorted(self._streams)}: call add_stream first"
            )
        return state

    def _take(self, state: Stream, rows: Rows) -> None:
        for place, name in enumerate(state.scalars):
            captured = rows.present[:, place]
            if captured.any():
                values = rows.scalars[captured, place].astype(np.float64)
                self._take_scalar(state.number, name, rows.steps[captured], values)
        state.last_step = int(rows.steps[-1]) if len(rows.steps) else state.last_step
        block = state.make_block(rows)
        # NaN means "not captured": comparing it is meant.
        with np.errstate(invalid="ignore"):
            state.feed(block)
            self._book.feed(state.number, UPDATE_RATIO, *state.learning_rate.feed(block))
            self._book.feed(state.number, WEIGHTS_FINITE, *read_weights(block))
            self._book.feed(state.number, KERNEL_NORM, *read_kernels(block))
        self._ask_questions()

    def _take_scalar(self, stream: int, name: str, steps: Int64, values: npt.NDArray[np.float64]) -> None:
        self._book.feed(stream, name, steps, values)
        if is_loss(name) and (stream, name) not in self._first_losses and np.isfinite(values).any():
            self._first_losses[stream, name] = float(values[np.isfinite(values)][0])
        if name == VALIDATION_LOSS:
            self._by_heart.feed(steps, values)
        if is_loss(name):
            rules = self._scalar_rules.get((stream, name))
            if rules is None:
                rules = self._scalar_rules[stream, name] = LossRules(
                    PlateauRule(stream, name),
                    NonFiniteScalarRule(stream, name),
                    RunawayRule(stream, name),
                    RelapseRule(stream, name),
                    BehindRule(stream, name, self._baseline),
                )
                rules.plateau.n_classes = self._count_classes(stream)
            for rule in rules:
                rule.feed(steps, values)

    def _is_total(self, name: str) -> bool:
        """Whether a loss is the one that is trained on, as far as its name and the others tell."""
        return name == "loss" or len(self._scalar_rules) == 1

    def _count_classes(self, stream: int) -> int:
        state = self._streams.get(stream)
        if state is not None and (state.table.replica is not None or self._setups[stream].opposed):
            return 0
        return count_classes([one.table for one in self._applied()])

    def _episodes(self) -> list[Episode]:
        scalar = (rule.episodes for rules in self._scalar_rules.values() for rule in rules)
        return [
            *itertools.chain.from_iterable(scalar),
            *self._by_heart.episodes,
            *self._allied.episodes,
            *find_out_of_reach(state.side for state in self._streams.values()),
            *self._remade.episodes,
            *itertools.chain.from_iterable(state.episodes() for state in self._streams.values()),
        ]

    def _ask_questions(self) -> None:
        """Asks the scalars about new episodes, while their past is remembered; forgets episodes that were none."""
        self._allied.compare((number, state.scores) for number, state in self._streams.items())
        self._remade.compare((number, state.course) for number, state in self._streams.items())
        episodes = self._episodes()
        self._is_stale |= bool(episodes) or bool(self._questions)
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
        states = self._streams.values()
        facts = Facts(
            questions=self._questions,
            optimizers={number: state.optimizer for number, state in self._streams.items()},
            replicas={n: s.table.replica for n, s in self._streams.items() if s.table.replica is not None},
            last_row=max((state.last_step for state in states), default=-1),
            records=list(itertools.chain.from_iterable(state.records() for state in states)),
            origins=list(itertools.chain.from_iterable(state.origins() for state in states)),
            columns=self._columns,
            outliers={number: state.outliers() for number, state in self._streams.items()},
            newest_loss=self._book.newest_loss,
            starts={number: state.start for number, state in self._streams.items()},
            orders={number: state.order for number, state in self._streams.items()},
            constants={number: state.constants for number, state in self._streams.items()},
            linear_fits={number: state.correlation.linear_fit for number, state in self._streams.items()},
            stales={number: state.stale for number, state in self._streams.items()},
            warnings={},
            has_operations=any(state.operations for state in states),
            is_eager=any(self._setups[state.number].eager for state in self._applied()),
            is_climbing=any(state.skill.is_climbing for state in states),
            is_upward=any(state.direction.is_upward for state in states),
            is_of_entropies=any(state.skill.is_of_entropies for state in states),
            has_own_targets=any(state.shared_target.has_own_targets for state in states),
            setups={state.number: self._setups[state.number] for state in self._applied()},
            tables={state.number: state.table for state in self._applied()},
        )
        self._complete(self._questions)
        self._note_healed(self._questions)
        self._note_seen(self._questions)
        asked = [e for e in self._questions if not (self._is_left_behind(e) or self._is_held(e))]
        credible = [e for e in asked if is_credible(e, self._questions[e]) and self._is_new(e)]
        self._order_optimizers(credible)
        self._order_inputs(credible)
        self._worded = tell_all(assemble(credible), facts, self._on_failure and self._recover)
        findings = limit_repeats(list(self._worded.values()))
        findings.sort(key=lambda finding: finding.severity != CRITICAL)
        told = [finding.to_json() for finding in findings]
        if told != self._told:
            self._findings, self._told = tuple(findings), told
            self._revision += 1

    def _recover(self, lead: Episode) -> Finding | None:
        """What was last told of an episode whose words raised an exception."""
        if self._on_failure is not None:
            self._on_failure(type(lead).__name__)
        return self._worded.get(lead)

    def _complete(self, questions: Mapping[Episode, Testimony]) -> None:
        """Adds what a rule cannot know, since it sees one stream or one loss."""
        every, players = self._applied(), self._players()
        is_game = len(players) > 1 and len(self._scalar_rules) != 1
        n_classes = count_classes([one.table for one in players])
        for episode, testimony in questions.items():
            # What an earlier stage came to is not judged by this one's numbers.
            is_own = episode.stream == LOGGED or any(episode.stream == one.number for one in players)
            applied = players if is_own else every
            is_of_classes = len(applied) == 1 and n_classes > 1 and applied[0].skill.is_of_entropies
            if isinstance(episode, Fade):
                episode.is_game = is_game
            elif isinstance(episode, (Missing, Zero)):
                _leave_out_trained(episode, every)
            elif isinstance(episode, (Faint, Rate)) and is_of_classes:
                episode.guess = math.log(n_classes)
            elif isinstance(episode, (Relapse, Remade, ByHeart, Behind)):
                self._complete_of_loss(episode, applied, n_classes if is_of_classes else 0)
            elif isinstance(episode, Runaway):
                norms = [testimony.known.read(GRADIENT_NORM, state.number) for state in applied]
                factors = [one.recent / one.initial for one in norms if one.recent and one.initial]
                episode.gradient_factor = max(factors, default=math.nan)
                episode.is_alone = len(applied) == 1 and bool(applied[0].table.entering("target"))
                own = [state for state in applied if episode.stream in (LOGGED, state.number)]
                norms_now = [testimony.known.read(KERNEL_NORM, state.number).newest or 0.0 for state in own]
                before = math.hypot(*(state.start.kernel_norm for state in own))
                episode.weight_factor = math.hypot(*norms_now) / before if before > 0 else math.nan
            elif isinstance(episode, (Mismatch, Misshaped)):
                self._complete_of_inputs(episode)
            elif isinstance(episode, Unrelated):
                episode.is_judged = self._gives_predictions(applied)
            elif isinstance(episode, Flat) and len(applied) == 1:
                episode.correlation = applied[0].correlation.least
                episode.has_adversary = bool(self._setups[applied[0].number].opposed)
            elif isinstance(episode, Unskilled):
                is_opposed = bool(self._setups[applied[0].number].opposed)
                episode.is_judged = self._gives_predictions(applied) and not is_opposed
                episode.n_gates = applied[0].table.count_gates(applied[0].table.kernels)
            elif isinstance(episode, Plateau) and len(applied) == 1:
                table = applied[0].table
                episode.n_gates = table.count_gates(table.kernels)
                episode.n_inputs = len([*table.entering("input"), *table.entering("index")])
                # Whose inputs are seen and that has no targets may be a player of whom the other is not watched.
                is_player = bool(table.entering("input")) and not table.entering("target")
                episode.has_labels = not (applied[0].targets.is_constant or (is_player and not episode.is_early))
                episode.softmax = find_lone_softmax(applied[0].operations)
                if episode.is_early:
                    ratio = testimony.known.read(UPDATE_RATIO, applied[0].number).recent
                    # An error of another kind may be as large as a variance by chance.
                    variance = math.nan if applied[0].correlation.follows else applied[0].targets.variance
                    # Weights of samples scale a mean, and one that is scaled may come to any number.
                    n_samples = 0 if table.entering("sample_weight") else applied[0].start.n_samples
                    compare_level(episode, n_samples, n_classes, applied[0].targets, ratio, variance=variance)

    def _complete_of_inputs(self, episode: Mismatch | Misshaped) -> None:
        """What columns and validations say of a slip, or whether every class of some labels occurs but the first."""
        if isinstance(episode, Misshaped):
            self._complete_of_columns(episode)
            self._complete_of_validation(episode)
        else:
            columns = self._columns.get((episode.stream, episode.target))
            episode.lacks_first = columns is not None and columns.lacks_first()

    def _complete_of_columns(self, episode: Misshaped) -> None:
        """What the columns say of a slip: which are next to constant, or jump."""
        if episode.what is SlipKind.ANGLES:
            angles = self._columns.get((episode.stream, str(episode.slip["name"])))
            episode.turn = None if angles is None else angles.find_turn()
        if episode.what not in (SlipKind.SCALED, SlipKind.UNSCALED):
            return
        width = episode.slip.get("entering")
        for (stream, _), columns in self._columns.items():
            if stream != episode.stream or width not in (None, columns.n_columns):
                continue
            narrow, widest = columns.find_narrow()
            if narrow:
                rounded, _ = columns.find_narrow(ROUNDED_SHARE)
                episode.narrow, episode.widest, episode.is_rounded = rounded or narrow, widest, bool(rounded)
                episode.reach = columns.reach(rounded[0] if rounded else widest)
                return

    def _complete_of_validation(self, episode: Misshaped) -> None:
        """What the validations say of a slip that only keeps what is learned from carrying over."""
        if episode.what is SlipKind.UNDROPPED:
            for one in self._by_heart.episodes:
                loss = self._questions[one].known.read_loss().recent
                episode.validation, episode.loss = (one.best, one.newest), math.nan if loss is None else loss

    def _complete_of_loss(
        self, episode: Relapse | Remade | ByHeart | Behind, applied: Sequence[Stream], n_classes: int
    ) -> None:
        """Says what the losses of the run say of an episode; ``n_classes`` is 0 where it is of no cross-entropy."""
        if isinstance(episode, Remade):
            began, newest = self._first_losses.get((episode.stream, "loss")), self._book.newest_loss(episode.newest)
            if began is not None and newest is not None:
                episode.has_learned = newest[1] <= LEARNED_SHARE * began
        elif isinstance(episode, Relapse):
            has_scale = len(applied) == 1 and (applied[0].order.is_of_labels or applied[0].stale.is_long)
            episode.is_judged = self._is_total(episode.name) and has_scale
        elif isinstance(episode, ByHeart):
            begun = max(self._first_losses.values(), default=0.0)
            episode.start, episode.is_guess = (math.log(n_classes), True) if n_classes else (begun, False)
            episode.is_judged = len(applied) == 1 and not applied[0].table.entering("sample_weight")
            highest = applied[0].correlation.highest_label if len(applied) == 1 else -math.inf
            episode.n_unseen = max(n_classes - 1 - int(highest), 0) if math.isfinite(highest) else 0
        else:
            episode.is_judged = self._is_total(episode.name) and self._gives_predictions(applied)

    def _gives_predictions(self, applied: Sequence[Stream]) -> bool:
        """Whether there is one training alone, and its outputs are what is asked for as they are."""
        return len(applied) == 1 and not self._setups[applied[0].number].are_handicapped

    def _note_healed(self, questions: Mapping[Episode, Testimony]) -> None:
        """Says of layers that told nothing apart for a short while whether that did any harm."""
        guesses = [one for one in questions if isinstance(one, (Plateau, Unskilled)) and one.is_open]
        is_stuck = any(is_credible(one, questions[one]) for one in guesses)
        for episode in questions:
            if isinstance(episode, Collapsed) and not episode.is_open:
                n_steps = episode.last_step - episode.first_step
                n_since = self._streams[episode.stream].last_step - episode.last_step
                episode.has_healed = not is_stuck and (n_steps < HEALED_STEPS or n_since >= HEALED_STEPS)

    def _note_seen(self, questions: Mapping[Episode, Testimony]) -> None:
        """Says of running statistics that lag a little whether the validation shows it."""
        is_seen = False
        for one in self._by_heart.episodes:
            loss = questions[one].known.read_loss().recent
            is_seen |= is_credible(one, questions[one])
            is_seen |= loss is not None and is_overfit(one.best, one.newest, loss)
        for episode in questions:
            if isinstance(episode, Lagging):
                episode.is_seen = is_seen

    def _is_left_behind(self, episode: Episode) -> bool:
        """Whether guessing is over, and has been for as long as it lasted: some tasks begin with a plateau.

        The same is true of units that were idle for a while, if others were left.
        """
        is_idle = isinstance(episode, Flat) and episode.share < BLOCKING_SHARE
        if not (is_idle or isinstance(episode, (Plateau, Unrelated, Unskilled))) or episode.is_open:
            return False
        return _is_long_over(episode, max((state.last_step for state in self._applied()), default=-1))

    def _is_held(self, episode: Episode) -> bool:
        """Whether a growth was what clipping is for: held by it, long over, and the loss is lower than before it."""
        if not isinstance(episode, Growth) or episode.is_open or episode.ended_nonfinite:
            return False
        testimony, newest = self._questions[episode], self._book.newest_loss(episode.stream)
        before, clipped = testimony.onset.read_loss().before, testimony.known.read(CLIPPED_SHARE).recent
        is_lower = before is not None and newest is not None and newest[1] < before
        is_over = _is_long_over(episode, self._streams[episode.stream].last_step)
        return bool(clipped) and is_over and is_lower and not episode.weight_factor > GROWN_FACTOR

    def _order_optimizers(self, episodes: Sequence[Episode]) -> None:
        """Of several optimizers in a step each has a forward pass and a loss, and what the first breaks the next meets.

        Where an operation of one made non-finite values of finite ones, no other had broken before: what broke in the
        same step on another's way to its gradients was formed later, with weights that were broken by then. A logged
        loss does not say whose it is; it was formed later if the operation was one of a backward pass.
        """
        applied = self._applied()
        if len(applied) < 2:
            return
        broken: dict[int, tuple[int, bool]] = {}
        for state in applied:
            for gradient in episodes:
                if (
                    isinstance(gradient, NonFinite)
                    and gradient.phase is Phase.GRADIENT
                    and gradient.stream == state.number
                    and (account := find_account(state.records(), state.origins(), state.number, gradient.first_step))
                    and account.culprit is not None
                ):
                    broken.setdefault(gradient.first_step, (state.number, account.culprit.is_gradient))
        for later in episodes:
            if isinstance(later, NonFinite) and later.phase < Phase.GRADIENT:
                stream, is_backward = broken.get(later.first_step, (later.stream, False))
                later.is_late = is_backward if later.stream == LOGGED else later.stream != stream

    def _order_inputs(self, episodes: Sequence[Episode]) -> None:
        """What a model is given may have been computed in the step: then the operation comes before the input.

        What no layer's output showed anything of was masked, or else bounded by the first layer (tanh of Inf is 1, and
        a matrix product that is fused with a relu gives 0 for NaN on many processors) and met again on the way back:
        then the operation that broke was fed with it, or none broke.
        """
        for given in episodes:
            if isinstance(given, NonFinite) and given.phase is Phase.INPUT and not given.is_late:
                state = self._streams[given.stream]
                account = find_account(state.records(), state.origins(), given.stream, given.first_step)
                if given.is_contained:
                    given.is_contained = not _is_met_again(given, account)
                if account is None or account.origin is None or account.culprit is None:
                    continue
                culprit = account.culprit
                origin = account.origin
                is_forward = culprit.name == origin.operation.name and not culprit.is_gradient
                given.is_late = (
                    is_forward and origin.n_nonfinite_in == 0 and not _has_broken_before(episodes, given, culprit)
                )

    def _is_new(self, episode: Episode) -> bool:
        """Whether an input that was not finite before, without harm, has broken in a column that was finite then."""
        if not (isinstance(episode, NonFinite) and episode.is_usual and episode.table is not None):
            return True
        names = [episode.table.names[column] for column in episode.table.input]
        known = (self._columns.get((episode.stream, name)) for name in names)
        return any(columns is not None and columns.is_new(episode.first_step) for columns in known)


def _is_long_over(episode: Episode, last_step: int) -> bool:
    """Whether by some step a trouble has been over for as long as it lasted."""
    return last_step - episode.last_step >= max(episode.last_step - episode.first_step, HEALED_STEPS)


def _leave_out_trained(episode: Missing | Zero, applied: Sequence[Stream]) -> None:
    """Takes out of an episode of variables without a gradient those that another optimizer trains, or will train."""
    if episode.table is None:
        return
    name, others = episode.table.name_gradient, [one for one in applied if one.number != episode.stream]
    if isinstance(episode, Zero):  # beside it another may train what it does not; what comes later makes it well
        reached = [one.reached_since() for one in others]
        episode.positions = {
            p: since
            for p, since in episode.positions.items()
            if not any(known.get(name(p), -1) > episode.last_step for known in reached)
        }
        return
    told = set().union(*(one.reached() for one in others))
    if episode.is_left_out:  # the stream that is given it tells of it, or else the first that leaves it out
        told |= set().union(*(one.table.names_of_gradients(left_out=False) for one in others))
        earlier = [one.table for one in others if one.number < episode.stream]
        told |= set().union(*(table.names_of_gradients(left_out=True) for table in earlier))
    episode.positions = tuple(p for p in episode.positions if name(p) not in told)


def _is_met_again(given: NonFinite, account: Account | None) -> bool:
    """Whether a broken input that no layer's output showed anything of was met on the way back."""
    if account is None:
        return given.finite_step >= 0 and not given.is_usual
    if account.origin is not None:
        return account.origin.n_nonfinite_in > 0
    # In the first row nobody knows what is usual: then nothing else may have broken.
    is_alone = given.finite_step >= 0 or account.carrier is None
    return account.culprit is None and is_alone and not given.is_usual


def _has_broken_before(episodes: Sequence[Episode], given: NonFinite, operation: Operation) -> bool:
    """Whether a layer that comes before an operation's own had broken too: then what broke came in with the input.

    A layer may swallow NaN on its way: the maximum of NaN alone is the smallest number there is, which overflows next.
    """
    table = given.table
    if table is None:
        return False
    layers = [table.layers[column] for column in table.activation]
    if operation.layer not in layers:
        return False
    n_before = layers.index(operation.layer)
    return any(
        isinstance(other, NonFinite)
        and other.phase is Phase.ACTIVATION
        and (other.stream, other.first_step) == (given.stream, given.first_step)
        and bool((other.counts[:n_before] > 0).any())
        for other in episodes
    )
