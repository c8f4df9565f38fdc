"""Where in the model a NaN entered, as far as one step's gradients can tell. Pure; owns no wording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradwatch_server.health.episode import NonFinite
from gradwatch_server.health.table import TensorTable

__all__ = ["Entry", "locate"]


@dataclass(frozen=True)
class Entry:
    """Where it entered.

    Attributes:
        position: the gradient to name, as a gradient position.
        bound: the next gradient nearer to the output that stayed finite, or None: then it entered after the last
        variable.
        is_forward: the layer's input held it already in the forward pass (its kernel's gradient is broken, its bias'
        is not).
        n_nonfinite: gradients that were not finite at the first step.
        n_finite: gradients that were finite at that step.
        share: of the named gradient's elements, the part that is not finite.
    """

    position: int
    bound: int | None
    is_forward: bool
    n_nonfinite: int
    n_finite: int
    share: float

    @property
    def is_everything(self) -> bool:
        """Whether no gradient stayed finite."""
        return self.n_finite == 0


def locate(episode: NonFinite, table: TensorTable) -> Entry:
    """Reads the entry off the gradients of an episode's first step.

    The backward pass runs from output to input and floods all that it meets, so the non-finite gradient nearest to
    the output bounds the entry from one side and the next finite one from the other. One pattern tells of the forward
    pass instead: a kernel's gradient is input^T times signal, its bias' the sum of the signal. Where kernels are broken
    and their biases are not, the signal was finite and the *input* of the layer was not; then the gradient nearest to
    the model's input is named.
    """
    bad = np.flatnonzero(episode.counts.sum(axis=1) > 0)
    finite = np.flatnonzero((episode.counts.sum(axis=1) == 0) & episode.looked_at)
    biases = table.bias_of[bad]
    finite_set = set(finite.tolist())
    is_forward = bool((biases >= 0).any()) and all(
        bias in finite_set if bias >= 0 else len(table.shapes[table.gradient[position]]) >= 2
        for position, bias in zip(bad.tolist(), biases.tolist(), strict=True)
    )
    position = int(bad[0] if is_forward else _kernel_of(table, bad.tolist()))
    deeper = finite[finite > (position if is_forward else bad[-1])]
    size = max(float(table.n_elements[table.gradient[position]]), 1.0)
    return Entry(
        position=position,
        bound=int(deeper[0]) if len(deeper) else None,
        is_forward=is_forward,
        n_nonfinite=len(bad),
        n_finite=len(finite),
        share=float(episode.counts[position].sum()) / size,
    )


def _kernel_of(table: TensorTable, bad: list[int]) -> int:
    """The last of some positions; where that is a bias whose kernel is among them too, the kernel."""
    return next((position for position in bad if table.bias_of[position] == bad[-1]), bad[-1])
