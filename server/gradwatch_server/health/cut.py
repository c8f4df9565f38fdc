"""The rule for a clip that hides a steep operation: its slope is large, and ever more elements get no gradient at all.

Zeros alone tell nothing: pooling, dropout, a hinge loss or one-hot labels make them by design. So zeros count only
where an operation in the user's own line is steep, and against the tensor's own first rows. A norm with an epsilon in
it is steep at 0, and its gradient is 0 there by right: what a mask sets to 0 ends so.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, RECOVERY_ROWS, Cut, Phase
from gradwatch_server.health.operation_table import OPERATION_COLUMN, Operation
from gradwatch_server.health.steep import AMPLIFICATION_LIMIT, is_judged
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.unit import RECTIFYING, largest_input

__all__ = ["CutRule", "may_be_clipped"]

EARLY_ROWS: Final = 5
"""Rows whose median is a tensor's own past."""
SHARE_LIMIT: Final = 0.3
"""The part of the elements that used to get a gradient and does not any more."""
START_LIMIT: Final = 0.7
"""Where it was so from the first rows on, most of what one-hot labels leave: padding cuts some too."""
CONFIRM_ROWS: Final = 10
"""Captured rows in succession."""
VARIED_SHARE: Final = 0.1
"""By how much the number of elements with a gradient must have varied for a clip to have made it: one sample of each
batch at a time, as in a Jacobian, leaves the same number in every row."""
FLOOR_WITHIN: Final = 1e-3
"""How near the epsilon in a norm the sum of squares and epsilon counts as that of zeros."""

SAME_ZEROS: Final = 0.05
"""Of the elements: by how much the zeros of a gradient may differ from those of the output."""
_CLIP: Final = re.compile(r"\bclip_by_value\b|\bclip\b|\b(?:min|max)imum\b")

Float = npt.NDArray[np.float64]


def may_be_clipped(operation: Operation) -> bool:
    """Whether a clip stands in or around the user's line, as far as that can be seen; True where it cannot."""
    excerpt = (operation.source or {}).get("excerpt")
    if operation.is_held or not excerpt:
        return True
    return _CLIP.search("\n".join([operation.code, *excerpt["lines"]])) is not None


class CutRule:
    """Watches the zeros behind one stream's steep forward operations.

    An operation in a layer is judged by the gradients with respect to that layer's output (a clip behind it) and to the
    output before it (a clip inside), one in the loss by that of the model's output; where these are not captured, by
    the kernel's gradient nearest to the loss.

    Args:
        stream: the stream's number.
        table: its tensor table.
        operations: its operations.
    """

    def __init__(self, stream: int, table: TensorTable, operations: tuple[Operation, ...]) -> None:
        self._stream, self._table = stream, table
        pairs = [(o, column) for o in operations if is_judged(o) for column in _find_columns(o, table)]
        self._operations = tuple(operation for operation, _ in pairs)
        self._columns = np.array([column for _, column in pairs], np.int64)
        self._places = np.array([operation.place for operation in self._operations], np.int64)
        relus = {table.names[c]: c for c in table.activation.tolist() if table.functions[c] in RECTIFYING}
        of_outputs = set(table.backprop.tolist())
        outputs = [relus.get(table.names[c], -1) if c in of_outputs else -1 for c in self._columns.tolist()]
        self._outputs = np.array(outputs, np.int64)
        """Of a gradient with respect to what a relu gives, that: where it is 0 no gradient would pass the relu."""
        n = len(self._operations)
        self._is_output = np.array([not o.layer for o in self._operations], bool)
        self._is_output &= np.isin(self._columns, table.backprop)
        # One-hot labels leave one class in so many.
        self._one_hot = np.array([1.0 / max((table.shapes[c] or (1,))[-1], 1) for c in self._columns], np.float64)
        # A clip in the operation's own line explains zeros from the first row on, in the layer's own or earlier output.
        is_clip = np.array([bool(o.layer) and _CLIP.search(o.code) is not None for o in self._operations], bool)
        self._is_clip = is_clip & np.isin(self._columns, table.backprop)
        floors = [o.norm_floor for o in self._operations]
        self._zero_norm = np.array([-np.inf if one is None else one * (1 + FLOOR_WITHIN) for one in floors], np.float64)
        self._early: list[list[float]] = [[] for _ in range(n)]
        self._least, self._most = np.full(n, np.inf), np.zeros(n)
        """Of each, the least and the largest number of elements that had a gradient."""
        self._before = np.full(n, np.nan)
        self._run = np.zeros(n, np.int64)
        self._run_step = np.full(n, -1, np.int64)
        self._n_calm = np.zeros(n, np.int64)
        self._first_step = -1
        self._current: dict[int, Cut] = {}
        self.episodes: list[Cut] = []

    def feed(self, block: Block) -> None:
        """Takes rows; one in which operations or zeros were not looked at, or that broke, changes nothing."""
        if not self._operations:
            return
        slope = block.operations[:, self._places, OPERATION_COLUMN["amplification"]].astype(np.float64)
        found = block.statistics[:, self._columns].astype(np.float64)
        zeros = _share(found, "n_zero")
        given = block.statistics[:, self._outputs].astype(np.float64)
        # A bound on a relu's zeros cuts nothing else; what compares samples gives units that are 0 for all of them 0.
        for idle in (_share(given, "n_zero"), _share(given, "n_saturated")):
            zeros = np.where((self._outputs >= 0) & (np.abs(zeros - idle) <= SAME_ZEROS), 0.0, zeros)
        is_known = ~np.isnan(slope) & ~np.isnan(zeros) & (found[:, :, COLUMN["n_elements"]] > 0)
        is_known &= ~block.is_harmed[:, None]
        margin = block.operations[:, self._places, OPERATION_COLUMN["margin"]].astype(np.float64)
        for row in np.flatnonzero(is_known.any(axis=1)):
            step = int(block.steps[row])
            n_before = len(self.episodes)
            n_alive = np.where(is_known[row], found[row, :, COLUMN["n_elements"]] * (1.0 - zeros[row]), np.nan)
            self._least, self._most = np.fmin(self._least, n_alive), np.fmax(self._most, n_alive)
            self._step(step, np.where(is_known[row], 1.0 - zeros[row], np.nan), slope[row], margin[row])
            for episode in self.episodes[n_before:]:
                episode.largest_input = largest_input(block, int(row), self._table)

    def _step(self, step: int, alive: Float, slope: Float, margin: Float) -> None:
        if self._first_step < 0:
            self._first_step = step
        is_known = ~np.isnan(alive)
        for place in np.flatnonzero(is_known & np.isnan(self._before)).tolist():
            self._early[place].append(float(alive[place]))
            if len(self._early[place]) == EARLY_ROWS:
                self._before[place] = float(np.median(self._early[place]))
        usual = np.where(np.isnan(self._before), np.inf, self._before)
        share = 1.0 - alive / np.maximum(usual, 1e-12)
        from_start = 1.0 - alive / self._one_hot
        is_cut = (share >= SHARE_LIMIT) & np.isfinite(usual)
        share, is_cut = (
            np.where(self._is_clip, 1.0 - alive, share),
            is_cut | (self._is_clip & (1.0 - alive >= SHARE_LIMIT)),
        )
        is_varied = self._least <= (1.0 - VARIED_SHARE) * self._most
        is_start = self._is_output & (from_start >= START_LIMIT) & (is_varied | (self._most == 0))
        cut = np.fmax(np.where(is_cut, share, 0.0), np.where(is_start, from_start, 0.0))
        is_high = is_known & (slope >= AMPLIFICATION_LIMIT) & (is_cut | is_start) & ~(margin <= self._zero_norm)
        self._run_step[is_high & (self._run == 0)] = step
        self._run = np.where(is_high, self._run + 1, np.where(is_known, 0, self._run))
        told = {self._operations[place].name for place in self._current}
        for place in np.flatnonzero(self._run >= CONFIRM_ROWS).tolist():
            if self._operations[place].name not in told and len(self.episodes) < EPISODES_LIMIT:
                told.add(self._operations[place].name)
                self._open(place, step, float(cut[place]), float(alive[place]))
        for place, episode in list(self._current.items()):
            if is_high[place]:
                self._n_calm[place] = 0
                episode.last_step = step
                episode.n_rows += 1
                episode.margin = float(np.fmin(episode.margin, margin[place]))
                episode.amplification = float(np.fmax(episode.amplification, slope[place]))
            elif is_known[place]:
                self._n_calm[place] += 1
                if self._n_calm[place] >= RECOVERY_ROWS:
                    episode.closed_step = step
                    del self._current[place]

    def _open(self, place: int, step: int, share: float, alive: float) -> None:
        first_step = int(self._run_step[place])
        self._n_calm[place] = 0
        self._current[place] = Cut(
            stream=self._stream,
            phase=Phase.BACKPROP,
            first_step=first_step,
            last_step=step,
            n_rows=int(self._run[place]) - 1,
            known_step=step,
            table=self._table,
            operation=self._operations[place],
            column=int(self._columns[place]),
            share=share,
            zeros=1.0 - alive,
            zeros_before=1.0 - float(self._before[place]),
            is_first_row=first_step == self._first_step,
        )
        self.episodes.append(self._current[place])


def _share(found: Float, name: str) -> Float:
    """Of statistics ``[..., n_statistics]`` the share of the elements that are counted by a name."""
    return np.asarray(found[..., COLUMN[name]] / np.maximum(found[..., COLUMN["n_elements"]], 1.0))


def _find_columns(operation: Operation, table: TensorTable) -> list[int]:
    """The columns of the tensors whose zeros tell."""
    if len(table.backprop) and not operation.layer:
        return [int(table.backprop[-1])]
    own = [place for place, column in enumerate(table.backprop) if table.layers[column] == operation.layer]
    if own:
        return [int(column) for column in table.backprop[max(own[0] - 1, 0) : own[-1] + 1]]
    kernels = table.gradient[table.kernels]
    return [int(column) for column in kernels[-1:]]
