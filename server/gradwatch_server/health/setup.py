"""How a training is set up, as far as its hook could tell before the first step. Owns no state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

__all__ = ["Setup", "source_of"]

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Setup(NamedTuple):
    """What a stream's announcement says beside its tensors.

    Attributes:
        untrained: names of what its models could train, and no optimizer had been given by then.
        untracked: names of what their layers hold unknown to Keras, which therefore nobody trains.
        broken: names of variables that were not finite before they were trained; None where that is not known.
        settings: what the optimizer was made with, by Keras' names, and its ``class``.
        broadcasts: type, name and source of operations on the way to the loss that combine ``[n, 1]`` and ``[n]``;
            ``unasked`` where nothing in the step asks for all pairs.
        cuts: type, name, layer and source of operations without a gradient at which the way back from the loss to
            variables ends that have none.
        reshapes: name, layer, source and both shapes of reshapes that leave each axis its length and not its place.
        slips: type, name, layer and source of comparisons with 0 that let an attention see nothing but what is 0, and
            of cuts (``StopGradient``) of a state between calls of one layer; name, class and source of layers that are
            made in every call; of what turns a sequence round (``ReverseV2``) that is joined with one which is not;
            of a ``Softmax`` over an axis of one; of a ``Call`` that gives the same as ``n`` others; of what draws an
            action anew (``Multinomial``); of noise that is asked for and not ``shown``; of what ``attracts`` two
            outputs of one network, both of which are moved; of an advantage that is ``undetached``; of an estimator
            that ``cancels`` its gradient; of a network of ``n_kernels`` and no function; of messages along ``edges``;
            of a return that is counted on beyond an end that is ``unread``; with ``function`` of what is applied to
            what is not for it (a loss that takes a softmax or an exponential twice; ``ZerosLike``: a second derivative
            that is 0); and, which are none, of what ``opposes`` layers: the gradient is turned round there; and of a
            draw of which ``codes`` give mean and log-variance, of a recurrence of an ``unbounded`` function, or of
            ``one_step``, and of ``pairs`` that are to differ.
        traced: name, value, source and ``changed_at`` of numbers of Python's that the compiled step goes on with; of
            random ones the value is None.
        alike: names of kernels that were one number throughout when the step was traced; of which of them the units
            are copies still, a scalar tells.
        script: the calls of the user's own code that made what is trained, and by which names it knows packages.
        loss_source: the user's line that made the loss; None where it is not known, or none of theirs.
        cleared_source: the user's line that wrote into the variables that gradients are read from, before the first
            step; None where it is not known, or gradients are read from none.
        from_tape: whether each gradient is known to be what a tape made of the very step that applies it.
        eager: whether its steps run eagerly, as far as is known.
    """

    untrained: Sequence[str] = ()
    untracked: Sequence[str] = ()
    broken: Sequence[str] | None = None
    settings: Mapping[str, bool | int | float | str] = NOTHING
    broadcasts: Sequence[Mapping[str, Any]] = ()
    cuts: Sequence[Mapping[str, Any]] = ()
    reshapes: Sequence[Mapping[str, Any]] = ()
    slips: Sequence[Mapping[str, Any]] = ()
    traced: Sequence[Mapping[str, Any]] = ()
    alike: Sequence[str] = ()
    script: Mapping[str, Any] = NOTHING
    from_tape: bool = False
    eager: bool = False
    loss_source: Mapping[str, Any] | None = None
    cleared_source: Mapping[str, Any] | None = None

    def find_call(self, role: str) -> Mapping[str, Any] | None:
        """The first of the user's calls with such a role; None where none is known."""
        return next((call for call in self.script.get("calls", ()) if call.get("role") == role), None)

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Setup:
        """What a ``tensors`` message says of it; what it does not say is as if there were none."""
        return cls(**{name: message[name] for name in cls._fields if name in message})

    @property
    def loops(self) -> frozenset[str]:
        """Paths of the layers that are loops over time."""
        return frozenset(str(slip["layer"]) for slip in self.slips if "end_of" in slip and slip.get("layer"))

    @property
    def opposed(self) -> frozenset[str]:
        """Paths of the layers of an adversary, whose gradient is turned round before it goes on to the others."""
        return frozenset(path for slip in self.slips for path in slip.get("opposes", ()))

    @property
    def margin(self) -> Mapping[str, Any] | None:
        """Of a loss that asks for two distances to differ by a margin, where that stands; None of other losses."""
        return next((slip for slip in self.slips if slip.get("margin")), None)

    @property
    def are_handicapped(self) -> bool:
        """Whether a sample's own label changes its scores, so that they are no predictions while it is trained."""
        return any(slip.get("handicaps") for slip in self.slips)

    @property
    def spreads(self) -> frozenset[str]:
        """Paths of the layers that give the log-variance of a code, and nothing else of it."""
        return frozenset(path for slip in self.slips for path in slip.get("codes", ())[1:])

    @property
    def unbounded(self) -> dict[str, str]:
        """Paths of recurrent layers of which no function limits the state, with that function's name."""
        return {str(slip["layer"]): str(slip["unbounded"]) for slip in self.slips if slip.get("unbounded")}

    @property
    def optimizer_class(self) -> str:
        """The class of the optimizer; empty where it is not known."""
        return str(self.settings.get("class", ""))

    def number(self, name: str) -> float | None:
        """A setting that is a number; None where it is none, or not known."""
        value = self.settings.get(name)
        return None if isinstance(value, (bool, str)) or value is None else float(value)


def source_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """File, line and first line of code of a call of `Setup.script`, as a finding has its source."""
    return {"file": call["file"], "line": call["line"], "code": str(call["lines"][0]).strip()}
