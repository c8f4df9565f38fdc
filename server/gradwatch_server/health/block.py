"""Some rows of one stream, with what several rules read from them. Owns no state between blocks."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch.protocol import STATISTICS
from gradwatch_server.health.table import TensorTable

__all__ = ["COLUMN", "LOG_NORM_LIMIT", "Block"]

COLUMN: Final = {name: place for place, name in enumerate(STATISTICS)}
_NONFINITE: Final = slice(COLUMN["n_nan"], COLUMN["n_neg_inf"] + 1)

LOG_NORM_LIMIT: Final = float(np.log(np.finfo(np.float32).max))
"""A norm that itself overflowed stands for the largest float32."""

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Block:
    """Rows of one stream.

    Attributes:
        table: the stream's tensor table.
        steps: ``[n]`` int64, rising.
        statistics: ``[n, n_tensors, n_statistics]`` float32, NaN where not captured.
        loss_scale: ``[n]`` float64, the factor on what layers get back (backprop), 1 where the run has none; the hook
            takes it off the gradients.
        is_scaled: ``[n]`` whether the run scales its loss.
        operations: ``[n, n_operations, 6]`` float32, NaN where not captured.
        learning_rate: ``[n]`` float64, NaN where it was not captured.
        loss: ``[n]`` float64, the stream's own loss, NaN where it has none or it was not captured.
        is_loss_finite: ``[n]`` False where a loss in the row is NaN or infinite.
        clipped_norm: ``[n]`` float64, the gradients' norm after the optimizer's clipping, NaN where it has none.
        is_update: ``[n]`` False where gradients were only added up (gradient accumulation).
        sums_cleared: ``[n]`` float64, 0 where the variables that all gradients are read from were never set back by
            then; else 1 and how often they were since the first step; NaN where gradients are not read from variables.
        outdated: ``[n]`` float64, the number whose bits tell which of `Setup.traced` would be others by then; NaN where
            none are known.
        alike: ``[n]`` float64, the number whose bits tell of which of `Setup.alike` each unit has been equal to
            another by then; NaN where there are none.
        correlations: ``[n, n_targets]`` float64, how far outputs follow each of the stream's targets; NaN where that is
            not known.
        linear_fit: ``[n]`` float64, how far a linear fit of the same inputs follows the first target, as far as it was
            known by then; NaN where it was not.
        unfollowed: ``[n]`` float64, which of several columns of the first target outputs do not follow, counted from 1,
            while a linear fit does; 0 for none, NaN where that is not known.
        contrasts: ``[n, 2]`` float64, by how many standard deviations the pairs that a loss pushes apart lie farther
            apart than those that it draws together: as they enter, as they are described; NaN where that is not known.
        leaked: ``[n]`` float64, which column of an input is the target, as `LEAKED_PLACES` tells; NaN where that is not
            known.
    """

    table: TensorTable
    steps: npt.NDArray[np.int64]
    statistics: npt.NDArray[np.float32]
    loss_scale: Float
    is_scaled: Bool
    operations: npt.NDArray[np.float32]
    learning_rate: Float
    loss: Float
    is_loss_finite: Bool
    clipped_norm: Float
    is_update: Bool
    sums_cleared: Float
    outdated: Float
    alike: Float
    correlations: Float
    linear_fit: Float
    unfollowed: Float
    contrasts: Float
    leaked: Float

    @cached_property
    def is_nonfinite(self) -> Bool:
        """``[n, n_tensors]`` whether a tensor held a NaN or an Inf."""
        return np.asarray((self.statistics[:, :, _NONFINITE] > 0).any(axis=2))

    @cached_property
    def is_captured(self) -> Bool:
        """``[n, n_tensors]`` whether a tensor was looked at in a step."""
        return ~np.isnan(self.statistics[:, :, COLUMN["n_nan"]])

    @cached_property
    def is_missing(self) -> Bool:
        """``[n, n_gradients]`` whether the gradient was None."""
        gradient = self.table.gradient
        empty = self.statistics[:, gradient, COLUMN["n_elements"]] == 0
        return np.asarray(empty & (self.table.n_elements[gradient] > 0))

    @cached_property
    def gradient_norm(self) -> Float:
        """``[n, n_gradients]`` norm; NaN where missing, not captured or not wholly finite."""
        gradient = self.table.gradient
        norm = np.ascontiguousarray(self.statistics[:, gradient, COLUMN["norm"]], np.float64)
        norm[self.is_nonfinite[:, gradient] | self.is_missing] = np.nan
        return norm

    @cached_property
    def global_norm(self) -> Float:
        """``[n]`` norm over all gradients; NaN where any of them is not finite or none is captured."""
        norm: Float = np.sqrt(np.nansum(self.gradient_norm**2, axis=1))
        unknown = np.isnan(self.gradient_norm).all(axis=1) | self.has_nonfinite_gradient
        norm[unknown] = np.nan
        return norm

    @cached_property
    def has_nonfinite_gradient(self) -> Bool:
        """``[n]`` whether any gradient held a NaN or an Inf."""
        return np.asarray(self.is_nonfinite[:, self.table.gradient].any(axis=1))

    @cached_property
    def is_harmed(self) -> Bool:
        """``[n]`` whether a gradient or a loss in the row was not finite."""
        return np.asarray(self.has_nonfinite_gradient | ~self.is_loss_finite)

    @cached_property
    def is_sound(self) -> Bool:
        """``[n]`` whether gradients, losses and weights were finite, as far as captured.

        What layers give of broken weights says nothing of the layers: oneDNN's relu makes 0 of NaN.
        """
        return np.asarray(~self.is_harmed & ~self.is_nonfinite[:, self.table.weight].any(axis=1))

    def sound_rows(self) -> Block:
        """The rows in which training was not broken."""
        if self.is_sound.all():
            return self
        arrays = {one.name: getattr(self, one.name)[self.is_sound] for one in fields(self) if one.name != "table"}
        return replace(self, **arrays)

    def read_norm(self, columns: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Float]:
        """The steps at which any of some tensors was read, and the norm of all, NaN where not all were finite."""
        seen, is_bad = self.find_read(columns)
        norm = self.statistics[seen][:, columns, COLUMN["norm"]].astype(np.float64)
        return self.steps[seen], np.where(is_bad, np.nan, np.sqrt(np.nansum(norm**2, axis=1)))

    def find_read(self, columns: npt.NDArray[np.int64]) -> tuple[Bool, Bool]:
        """``[n]`` whether any of some tensors was read, and of those rows whether any was not finite."""
        seen = np.asarray(self.is_captured[:, columns].any(axis=1))
        return seen, np.asarray(self.is_nonfinite[seen][:, columns].any(axis=1))

    @cached_property
    def log_norm(self) -> Float:
        """``[n, 1 + n_gradients]`` natural log of the global norm and of each gradient's; NaN where zero or unknown."""
        norms = np.concatenate([self.global_norm[:, None], self.gradient_norm], axis=1)
        norms[norms <= 0] = np.nan
        return np.asarray(np.minimum(np.log(norms), LOG_NORM_LIMIT))
