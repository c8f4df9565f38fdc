"""The rule for slips that a compiled step shows: a column that meets a vector, exchanged axes, an inverted mask.

The hook finds them in the graph or in the script, once; they hold as long as the step is the one that was compiled.
Axes of the same lengths in another order may be a fold that is meant, and 0 may be no padding: these are told only of a
training that does not get far.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from gradwatch.protocol import LEAKED_PLACES, ROUNDED_PLACE, TRUNCATED_PLACE
from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.contrast import ContrastTally
from gradwatch_server.health.episode import Misshaped, Phase
from gradwatch_server.health.same_batch import SameBatchTally
from gradwatch_server.health.setup import Setup, source_of
from gradwatch_server.health.slip import ANGLES, AUGMENT, CAP, SHARE, WORDS, SlipKind, is_single
from gradwatch_server.health.table import TensorTable

__all__ = ["MisshapedRule"]

CONFIRM_ROWS: Final = 20
"""Rows: what is run a few times is a trial."""
AT_ONCE: Final = frozenset({SlipKind.ALIASED, SlipKind.CROSSING, SlipKind.LATE, SlipKind.UNUSED})
"""What is so, however the loss goes on."""
TURNS_ROWS: Final = 5
GRAPH_ROWS: Final = 5
"""Rows with the edges of several graphs in them, of which not one shows that they name nodes of all."""
GRAPHS_MIN: Final = 4
REACHED_SHARE: Final = 0.5
"""Of a batch's nodes. Edges that name nodes by their places among all reach nearly the last of them."""
SIZE_FACTOR: Final = 3.0
"""Times the usual size of a graph that the first one may have, or the inverse."""
SIZES_MIN: Final = 4
"""Sizes of a first graph: one number may be a place that is kept for something else."""
CALLS_ROWS: Final = 50
"""Rows after which it is known how far numbers of a table's rows go."""
TABLE_RANK: Final = 2
ROUNDED_ROWS: Final = 5
"""Full rows in which most variances were rounding."""
TRUNCATED_ROWS: Final = 5
"""Full rows in all of which ids had fractions."""
BELOW_ROWS: Final = 5
"""Rows with a sum of errors below 0: their weights are."""
SAME_ROWS: Final = 10
"""Batches that are the first one again."""
SIGNS_SHARE: Final = 0.1
"""Of the range of targets, what lies on either side of 0 at the least."""
ZEROS_SHARE: Final = 1e-3
"""Of the targets that errors are divided by: one of 0 counts as much as ten thousand others and more."""
SPREAD_MIN: Final = 2 * math.pi
"""Radians: the deviation of a sine's argument at the start. Well begun it is 1 (Sitzmann et al., "Implicit neural
representations with periodic activation functions", 2020)."""
WAVE_RMS: Final = math.sqrt(0.5)
"""The root mean square of a sine."""
OFFSET_DEVIATION: Final = 0.1
OFFSET_SHARE: Final = 0.33
"""Of a mean: scaled columns have a mean of about 0 and a deviation of about 1, or lie between 0 and 1."""
DOUBT_STEPS: Final = 100
"""Steps after which a loss tells whether a reshape or a mask does harm."""
LATER_STEPS: Final = {SlipKind.MEDIAN: 500}
"""And after which one tells that it has come no further than one answer for all: nearly every training begins there."""


def _is_told_by_gradients(slip: Mapping[str, Any]) -> bool:
    """Whether a slip shows in what becomes of the gradients: there it is named."""
    return CAP in slip or is_single(slip) or ("sole" in slip and slip["type"] == SHARE)


def _find_apart(table: TensorTable, setup: Setup) -> list[dict[str, Any]]:
    """The user's call that turns images without what is asked of each of their places; none for other targets.

    It maps the data set, or is that of a layer of the model, which is given the images alone.
    """
    call = setup.find_call(AUGMENT)
    places = {tuple(table.shapes[column][1:3]) for column in table.entering("input") if len(table.shapes[column]) == 4}
    targets = (table.shapes[column] for column in table.entering("target"))
    if call is None or not any(len(shape) >= 3 and tuple(shape[1:3]) in places for shape in targets):
        return []
    return [{"type": AUGMENT, "name": AUGMENT, "layer": call["layer"], "source": source_of(call), "n": call["n"]}]


WORDS_MIN: Final = 4
"""In a text."""
VOCABULARY_MIN: Final = 50
"""Rows of a table of words: no one makes so many for two numbers."""
FLOORED_SHARE: Final = 0.5
"""Zeros among what was cut to whole numbers."""
NORMALISED_MAX: Final = 5.0
"""The root mean square of what is normalised is 1, over all of the data; so far off is no batch of them."""


UNIT_MAX: Final = 1.5
"""What images that are scaled to about 1 hold at most, however they were changed."""
FAR_IMAGE: Final = 30.0
"""A number that no scaled image holds."""
RANGE_FACTOR: Final = 20.0
"""Between the widths of two ranges of images; that of 0 to 1 is half that of -1 to 1, and does little harm there."""
IMAGE_RANKS: Final = (3, 4)
DARKENED_SHARE: Final = 0.5
"""Of the largest change of brightness: among the rows there is one that is as large."""


DARK_SHARE: Final = 0.1
"""Of the range that a network wants: all images, prepared twice, lie about where black should be."""
TWICE_SHARE: Final = 0.4
"""Of the least number that it wants: images have none below 0 before they are prepared."""
DIM_MAX: Final = 10 / 255
"""What numbers that were scaled to a deviation of 1, or to 1, hold at most once they are divided by 255."""
HALF_SLACK: Final = 0.01
HALF_MIN: Final = 0.7
"""What images from 0 to 255 reach of -1 to 0, at the least."""
SCALING: Final = frozenset({SlipKind.HALVED, SlipKind.RESCALED})
"""Slips of a layer that scales."""
OF_IMAGES: Final = SCALING | {SlipKind.BACKBONE, SlipKind.BRIGHTENED, SlipKind.DIMMED, SlipKind.UNCONVERTED}


class _Images(NamedTuple):
    """Columns of images: what enters, if that is one, and what each layer that scales them gives."""

    entering: int | None
    scaled: Mapping[str, int]

    @classmethod
    def of(cls, table: TensorTable, slips: Sequence[Mapping[str, Any]]) -> _Images:
        entering = [c for c in table.entering("input") if len(table.shapes[c]) in IMAGE_RANKS]
        layers = {str(slip["layer"]) for slip in slips if SlipKind.of(slip) in SCALING}
        columns = [c for c in table.activation.tolist() if len(table.shapes[c]) in IMAGE_RANKS]
        scaled = {table.layer_of(c): c for c in columns if table.layer_of(c) in layers}
        return cls(entering[0] if len(entering) == 1 else None, scaled)


class _Graphs(NamedTuple):
    """Columns of what a batch of graphs is made of: features of nodes, and whole numbers.

    Edges are pairs, or two lists of the same length. The list with a number for each node is of the graph that it
    belongs to; where nodes are told by whole numbers too, ``nodes`` is None, and it is the one that reaches further.
    """

    nodes: int | None
    pairs: list[int]
    lists: list[int]


def _find_graphs(table: TensorTable) -> _Graphs | None:
    """Those of the inputs that may be these; None where it is not clear."""
    whole = table.entering("index")
    nodes = [column for column in table.entering("input") if len(table.shapes[column]) == 2]
    pairs = [column for column in whole if len(table.shapes[column]) == 2 and 2 in table.shapes[column]]
    lists = [column for column in whole if len(table.shapes[column]) == 1]
    if not nodes and len(pairs) == 1 and len(lists) == 2:
        return _Graphs(None, pairs, lists)
    is_clear = len(nodes) == 1 and (len(pairs) == 1 or (not pairs and len(lists) > 2))
    return _Graphs(nodes[0], pairs, lists) if is_clear else None


class _Waves(NamedTuple):
    """The column of a kernel that sines go into and come of, its units, and what its product is multiplied with."""

    kernel: int
    n_units: int
    factor: float


def _find_waves(table: TensorTable, slips: Sequence[Mapping[str, Any]]) -> _Waves | None:
    slip = next((one for one in slips if SlipKind.of(one) is SlipKind.WAVES), None)
    kernels = [p for p in table.kernels.tolist() if slip and table.layer_of_gradient(p) == slip["layer"]]
    if slip is None or len(kernels) != 1 or table.weight_of[kernels[0]] < 0:
        return None
    column = int(table.weight_of[kernels[0]])
    return _Waves(column, table.shapes[column][-1], abs(float(slip["turns"])))


def _find_calls(table: TensorTable) -> list[tuple[int, int]]:
    """Columns of whole numbers that one input of a model gets, in two of its calls."""
    columns = {table.names[column]: column for column in table.entering("index")}
    seconds = ((column, columns.get(name.removesuffix(" (2)"))) for name, column in columns.items())
    return [(first, second) for second, first in seconds if first is not None and first != second]


def _find_words(table: TensorTable) -> list[int]:
    """The column of the only input of whole numbers, where these are sequences and each table has many rows."""
    found = table.entering("index")
    shapes = [table.shapes[column] for column in found]
    rows = [shape[0] for shape, name in zip(table.shapes, table.names, strict=True) if name.endswith("/embeddings")]
    is_text = len(found) == 1 and len(shapes[0]) == TABLE_RANK and (shapes[0][1] or WORDS_MIN) >= WORDS_MIN
    return found if is_text and min(rows, default=0) >= VOCABULARY_MIN else []


class MisshapedRule:
    """Watches whether one stream's step is still the one with a slip in it: the first of each kind and line.

    Args:
        stream: the stream's number.
        table: its tensor table.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        self._stream = stream
        crossings = [one for one in setup.broadcasts if one.get("unasked")]
        others = [slip for slip in setup.slips if not _is_told_by_gradients(slip)]
        slips = [*crossings[:1], *setup.reshapes[:1], *others, *_find_apart(table, setup)]
        first: dict[tuple[SlipKind | None, str], Mapping[str, Any]] = {}
        for slip in slips:
            first.setdefault((SlipKind.of(slip), str(slip.get("source") or slip["name"])), slip)
        # A hook that is newer may know other kinds.
        self._waiting = [(what, slip) for (what, _), slip in first.items() if what is not None]
        """Slips that are not told yet."""
        for column in table.entering("target"):
            angles = {"type": ANGLES, "name": table.names[column], "layer": "", "source": None}
            self._waiting.append((SlipKind.ANGLES, angles))
        self._graphs = _find_graphs(table)
        self._n_graph_rows, self._n_nodes, self._n_reached, self._is_shifted = 0, 0, 0, False
        self._firsts = Counter[int]()
        """How many rows with the edges of several graphs had which first node of an edge: the size of a first graph."""
        self._is_touched = False
        """Whether an edge had a node of the first graph, or began where no first graph would end."""
        self._targets = table.entering("target")
        self._batches = SameBatchTally(table, next((int(one["batches"]) for one in slips if "batches" in one), 0))
        self._labels = (math.inf, -math.inf)
        self._contrast = ContrastTally()
        self._is_floored = False
        """Whether what is fed, or is to be learned, has nothing but 0 and 1, and 0 for the most part."""
        self._n_targets = self._n_zero = self._n_below = 0
        self._places = Counter[int]()
        """In how many full rows ``leaked`` was what."""
        self._inputs = table.entering("input")
        self._means, self._deviation = list[float](), math.nan
        self._calls = _find_calls(table)
        self._table = table
        self._ranges: dict[int, tuple[float, float]] = {}
        """The least and the largest whole number so far, by column."""
        self._waves = _find_waves(table, slips)
        layers = {str(slip["layer"]) for slip in slips if SlipKind.of(slip) is SlipKind.UNNORMALISED}
        self._normalised = [c for c in table.activation.tolist() if table.layer_of(c) in layers][:1]
        self._root_mean_square = math.inf
        self._spread = math.nan
        self._images = _Images.of(table, slips)
        if self._images.entering is None and len(table.entering("input")) == 1:
            is_dimmed = any("dims" in slip for slip in slips)  # images may be flattened
            self._images = self._images._replace(entering=table.entering("input")[0] if is_dimmed else None)
        self._is_entered = any("entering" in slip for slip in slips)
        self._ends: dict[int, tuple[float, float]] = {}
        """Of columns of images, the smallest number so far and the largest."""
        self._words = _find_words(table)
        for column in self._words:
            words = {"type": WORDS, "name": table.names[column], "layer": "", "source": None}
            self._waiting.append((SlipKind.UNKNOWN, words))
        self._highest_word = -math.inf
        self._n_rows = 0
        self._first_step = self._last_step = -1
        self.episodes: list[Misshaped] = []

    def feed(self, block: Block) -> None:
        """Takes rows."""
        if any(what is SlipKind.UNSHIFTED for what, _ in self._waiting):
            self._look_at_edges(block)
        self._batches.feed(block)
        if any(what is SlipKind.RELATIVE for what, _ in self._waiting):
            self._look_at_zeros(block)
        if any(what in (SlipKind.HINGE, SlipKind.RELATIVE) for what, _ in self._waiting):
            self._look_at_labels(block)
        self._places.update(block.leaked[np.isfinite(block.leaked)].astype(int).tolist())
        self._n_below += int((block.loss < 0).sum())
        self._contrast.feed(block)
        if any(what is SlipKind.FLOORED for what, _ in self._waiting):
            self._look_at_whole(block)
        if any(what is SlipKind.UNSCALED for what, _ in self._waiting):
            self._look_at_inputs(block)
        self._look_at_waves(block)
        self._look_at_normalised(block)
        self._look_at_calls(block)
        self._look_at_images(block)
        highest = block.statistics[:, self._words, COLUMN["max"]].astype(np.float64)
        self._highest_word = float(np.fmax.reduce(highest.ravel(), initial=self._highest_word))
        for step in block.steps.tolist() if self._waiting or self.episodes or self._calls else ():
            if self._n_rows == 0:
                self._first_step = step
            self._n_rows, self._last_step = self._n_rows + 1, step
            for episode in self.episodes:
                episode.last_step, episode.n_rows = step, self._n_rows
            self._judge(step)

    def finish(self) -> None:
        """Says that the run has ended: pairs that were still coming apart do so no further."""
        self._contrast.is_over = True
        self._judge(self._last_step)

    def _judge(self, step: int) -> None:
        for what, slip in list(self._waiting):
            if not self._is_borne_out(what, slip):
                continue
            n_steps = 0 if what in AT_ONCE else LATER_STEPS.get(what, DOUBT_STEPS)
            # One step for each turn of an outer loop is not made often.
            n_rows = TURNS_ROWS if slip.get("unused") == "turns" else CONFIRM_ROWS
            if self._n_rows >= n_rows and step - self._first_step >= n_steps:
                self._waiting.remove((what, slip))
                self.episodes.append(
                    Misshaped(
                        stream=self._stream,
                        phase=Phase.LOSS,
                        first_step=self._first_step,
                        last_step=step,
                        n_rows=self._n_rows,
                        known_step=step,
                        what=what,
                        slip=slip,
                        contrast=self._contrast.means,
                        **self._measured(what, slip),
                    )
                )

    def _look_at_calls(self, block: Block) -> None:
        """How far the numbers of rows go in two calls, which for one may be the rows of another table."""
        for column in (column for pair in self._calls for column in pair):
            lowest, highest = block.statistics[:, column, [COLUMN["min"], COLUMN["max"]]].astype(np.float64).T
            low, high = self._ranges.get(column, (math.inf, -1.0))
            self._ranges[column] = (
                float(np.fmin.reduce(lowest, initial=low)),
                float(np.fmax.reduce(highest, initial=high)),
            )
        if self._n_rows < CALLS_ROWS:
            return
        rows = {
            self._table.shapes[c][0]: self._table.names[c]
            for c in reversed(self._table.gradient)
            if self._is_table(int(c))
        }
        for pair in self._calls:
            ranges = [self._ranges[column] for column in pair]
            if any(low >= high for low, high in ranges):
                continue  # the same id for all samples, as of the token that begins a sequence, is no range
            low, high = sorted(int(highest) + 1 for _, highest in ranges)
            own = min((n for n in rows if n >= high), default=0)
            if low in rows and own > low and high > 2 * low:
                slip = {"type": "Ids", "name": self._table.names[pair[0]], "layer": "", "source": None}
                tables = {"foreign": rows[low], "own": rows[own], "n_foreign": low, "n_own": high}
                self._waiting.append((SlipKind.FOREIGN, slip | tables))
        self._calls = []

    def _is_table(self, column: int) -> bool:
        return len(self._table.shapes[column]) == TABLE_RANK

    def _look_at_waves(self, block: Block) -> None:
        """How far the arguments of sines are spread at the first row that tells of their kernel."""
        if self._waves is None or not math.isnan(self._spread):
            return
        rows = np.flatnonzero(block.is_captured[:, self._waves.kernel])
        if len(rows):
            norm = float(block.statistics[rows[0], self._waves.kernel, COLUMN["norm"]])
            self._spread = self._waves.factor * WAVE_RMS * norm / math.sqrt(self._waves.n_units)

    def _look_at_normalised(self, block: Block) -> None:
        """The least root mean square of what a layer normalises."""
        for column in self._normalised:
            norm, size = block.statistics[:, column, [COLUMN["norm"], COLUMN["n_elements"]]].astype(np.float64).T
            found = norm[size > 0] / np.sqrt(size[size > 0])
            self._root_mean_square = float(np.fmin.reduce(found, initial=self._root_mean_square))

    def _look_at_images(self, block: Block) -> None:
        """Between which numbers images lie that enter, or that a layer scales."""
        columns = [*self._images.scaled.values()]
        columns += [] if self._images.entering is None else [self._images.entering]
        for column in columns:
            ends = block.statistics[:, column, [COLUMN["min"], COLUMN["max"]]].astype(np.float64)
            low, high = self._ends.get(column, (math.inf, -math.inf))
            known = ends[np.isfinite(ends).all(axis=1)]
            self._ends[column] = min([low, *known[:, 0].tolist()]), max([high, *known[:, 1].tolist()])

    def _reach_of(self, what: SlipKind, slip: Mapping[str, Any]) -> tuple[float, float] | None:
        """Between which numbers the images lie that a slip is about; None where that was not seen."""
        is_of_layer = what in SCALING and slip["layer"]
        column = self._images.scaled.get(str(slip["layer"])) if is_of_layer else self._images.entering
        low, high = self._ends.get(-1 if column is None else column, (math.inf, -math.inf))
        return (low, high) if low < high else None

    def _is_of_images(self, what: SlipKind, slip: Mapping[str, Any]) -> bool:
        """Whether images lie where a slip would have put them."""
        low, high = self._reach_of(what, slip) or (math.nan, math.nan)
        if what is SlipKind.RESCALED:
            most, offset = UNIT_MAX * float(slip["rescales"]), float(slip["offset"])
            return offset - most <= low and high <= offset + most
        if what is SlipKind.UNCONVERTED:
            return self._is_entered and high > FAR_IMAGE
        if what is SlipKind.BACKBONE:
            return self._is_of_another_range(slip, low, high)
        delta = float(slip["brightens"])
        if slip.get("scaled"):
            return True
        if slip["layer"]:
            return low >= -UNIT_MAX and high <= UNIT_MAX
        is_dark = low == 0 or low < -DARKENED_SHARE * delta
        return is_dark and -delta - UNIT_MAX <= low and DARKENED_SHARE * delta < high <= delta + UNIT_MAX

    def _is_of_another_range(self, slip: Mapping[str, Any], low: float, high: float) -> bool:
        """Whether colour images enter that no line behind can bring to the range which a pretrained network wants."""
        least, most = map(float, slip["wants"])
        share = (high - low) / (most - least)
        is_colour = self._images.entering is not None and self._table.shapes[self._images.entering][-1] == 3
        is_other = share > RANGE_FACTOR or share < 1 / RANGE_FACTOR
        is_black = least < 0 and least - DARK_SHARE * (most - least) <= low < high < least + DARK_SHARE * (most - least)
        is_twice = bool(slip.get("within")) and low < TWICE_SHARE * least <= 0
        is_sure = bool(slip.get("by")) or is_black or is_twice
        return is_colour and (is_sure or (is_other and (not slip["prepared"] or low < -FAR_IMAGE)))

    def _is_borne_out(self, what: SlipKind, slip: Mapping[str, Any]) -> bool:
        """Whether the rows show a slip that the graph alone does not tell."""
        if what in (SlipKind.DIMMED, SlipKind.HALVED):
            low, high = self._reach_of(what, slip) or (math.nan, math.nan)
            if what is SlipKind.DIMMED:
                return max(-low, high) <= DIM_MAX
            return low >= -1 - HALF_SLACK and high <= HALF_SLACK and high - low > HALF_MIN
        if what in OF_IMAGES:
            return self._is_of_images(what, slip)
        if what is SlipKind.RESIZED and slip.get("uncast"):
            return any(len(self._table.shapes[column]) in IMAGE_RANKS for column in self._targets)
        if what is SlipKind.TRUNCATED:
            place = (int(slip["truncates"]) - 1) * LEAKED_PLACES + TRUNCATED_PLACE
            return self._places[place] == self._places.total() >= TRUNCATED_ROWS
        is_shown = None if slip.get("padded") else self._SHOWN.get(what)
        return is_shown is None or is_shown(self)

    _SHOWN: ClassVar[Mapping[SlipKind, Callable[[MisshapedRule], bool]]] = {
        SlipKind.UNNORMALISED: lambda rule: NORMALISED_MAX < rule._root_mean_square < math.inf,
        SlipKind.UNSHIFTED: lambda rule: (rule._n_graph_rows >= GRAPH_ROWS and not rule._is_shifted) or rule._is_offset,
        SlipKind.RELATIVE: lambda rule: rule._are_zero or rule._are_of_both_signs,
        SlipKind.SAME_BATCH: lambda rule: rule._batches.n_same >= SAME_ROWS,
        SlipKind.HINGE: lambda rule: rule._labels == (0.0, 1.0),
        SlipKind.ROUNDED: lambda rule: rule._places[ROUNDED_PLACE] >= ROUNDED_ROWS,
        SlipKind.CONTRAST: lambda rule: rule._contrast.is_contrary,
        SlipKind.UNPRICED: lambda rule: rule._n_below >= BELOW_ROWS,
        SlipKind.FLOORED: lambda rule: rule._is_floored,
        SlipKind.UNKNOWN: lambda rule: rule._highest_word == 1,
        SlipKind.WAVES: lambda rule: rule._spread >= SPREAD_MIN,
    }
    """What the rows must show of a slip; of any other, nothing."""

    def _measured(self, what: SlipKind, slip: Mapping[str, Any]) -> dict[str, Any]:
        """What `Misshaped` has of such a slip that the rows tell."""
        if what in OF_IMAGES - {SlipKind.BRIGHTENED}:
            return {"reach": self._reach_of(what, slip)}
        if what is SlipKind.UNSHIFTED:
            n_first = int(np.median(list(self._firsts.elements()))) if self._is_offset else 0
            return {"n_nodes": self._n_nodes, "n_reached": self._n_reached, "n_first": n_first}
        if what is SlipKind.RELATIVE:
            reach = {} if self._are_zero else {"reach": self._labels}
            return {"zero_share": self._n_zero / self._n_targets} | reach
        if what is SlipKind.UNNORMALISED:
            return {"root_mean_square": self._root_mean_square}
        mean = float(np.mean(self._means)) if what is SlipKind.UNSCALED and self._means else math.nan
        if self._deviation < min(OFFSET_DEVIATION, OFFSET_SHARE * abs(mean)):
            return {"mean": mean, "deviation": self._deviation}
        return {"spread": self._spread} if what is SlipKind.WAVES else {}

    @property
    def _are_zero(self) -> bool:
        """Whether some of the targets are exactly 0."""
        return self._n_zero >= ZEROS_SHARE * self._n_targets > 0

    @property
    def _are_of_both_signs(self) -> bool:
        """Whether targets go through 0, and do not just reach a little beyond it."""
        low, high = self._labels
        return self._n_targets > 0 and low < 0 < high and min(-low, high) >= SIGNS_SHARE * (high - low)

    def _look_at_zeros(self, block: Block) -> None:
        """Counts the targets, and those that are exactly 0."""
        if len(self._targets) == 1:
            counts = block.statistics[:, self._targets[0], [COLUMN["n_elements"], COLUMN["n_zero"]]].astype(np.float64)
            n_targets, n_zero = counts[np.isfinite(counts).all(axis=1)].sum(axis=0).tolist()
            self._n_targets, self._n_zero = self._n_targets + int(n_targets), self._n_zero + int(n_zero)

    def _look_at_inputs(self, block: Block) -> None:
        """Around what an only input varies, and how much."""
        if len(self._inputs) == 1:
            mean, std = block.statistics[:, self._inputs[0], [COLUMN["mean"], COLUMN["std"]]].astype(np.float64).T
            self._means += mean[np.isfinite(mean)].tolist()
            self._deviation = float(np.fmax.reduce(std, initial=self._deviation))

    def _look_at_whole(self, block: Block) -> None:
        """Whether anything that enters the step is 0, mostly, and else 1."""
        casts = [slip for what, slip in self._waiting if what is SlipKind.FLOORED and slip["floored"] != "//"]
        fed = [*self._table.entering("input"), *self._table.entering("index"), *(self._targets if casts else [])]
        names = ("min", "max", "n_zero", "n_elements")
        low, high, n_zero, size = (block.statistics[:, fed, COLUMN[name]].astype(np.float64) for name in names)
        self._is_floored |= bool(((low == 0) & (high <= 1) & (n_zero > FLOORED_SHARE * size)).any())

    @property
    def _is_offset(self) -> bool:
        """Whether edges begin behind the first graph's nodes, which differ in number from batch to batch."""
        return not self._is_touched and self._firsts.total() >= CONFIRM_ROWS and len(self._firsts) >= SIZES_MIN

    def _look_at_labels(self, block: Block) -> None:
        """The smallest and the largest target so far."""
        if len(self._targets) == 1:
            ends = block.statistics[:, self._targets[0], [COLUMN["min"], COLUMN["max"]]].astype(np.float64)
            known = ends[np.isfinite(ends).all(axis=1)]
            low, high = self._labels
            self._labels = min([low, *known[:, 0].tolist()]), max([high, *known[:, 1].tolist()])

    def _look_at_edges(self, block: Block) -> None:
        """Counts the rows in which several graphs' edges reach the nodes of no more than one or two of them."""
        if self._graphs is None or (self._is_shifted and self._is_touched):
            return  # nothing that could be told any more
        of_nodes, pairs, lists = self._graphs
        wanted = [COLUMN["n_elements"], COLUMN["max"], COLUMN["min"]]
        sizes, highest, lowest = block.statistics[:, :, wanted].astype(np.float64).transpose(2, 0, 1)
        width = 1 if of_nodes is None else block.table.shapes[of_nodes][-1]
        columns = [*pairs, *lists] if of_nodes is None else [of_nodes, *pairs, *lists]
        for row in np.flatnonzero(np.isfinite(highest[:, columns]).all(axis=1)).tolist():
            n_nodes = sizes[row, lists[0] if of_nodes is None else of_nodes] / width
            owners = [column for column in lists if sizes[row, column] == n_nodes]
            if of_nodes is None and len(owners) == len(lists):
                owners = [max(owners, key=lambda column: float(highest[row, column]))]
            lengths = Counter(float(sizes[row, column]) for column in lists if column not in owners)
            edges = pairs or [c for c in lists if c not in owners and lengths[float(sizes[row, c])] == 2]
            if len(owners) != 1 or not edges:
                continue  # not what it was taken for
            n_graphs, n_reached = highest[row, owners[0]] + 1, highest[row, edges].max() + 1
            if n_graphs < GRAPHS_MIN:
                continue  # too few to tell
            self._n_graph_rows += 1
            first, usual = float(lowest[row, edges].min()), n_nodes / n_graphs
            self._is_touched |= not max(usual / SIZE_FACTOR, 2.0) <= first <= usual * SIZE_FACTOR
            self._firsts[int(first)] += 1
            self._is_shifted |= bool(n_reached > REACHED_SHARE * n_nodes)
            self._n_nodes = int(min(n_nodes, self._n_nodes or n_nodes))
            self._n_reached = int(max(n_reached, self._n_reached))
