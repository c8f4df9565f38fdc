"""What the engine says: findings and hypotheses, and their JSON. Owns no judgement and no wording."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

__all__ = ["CRITICAL", "WARNING", "Change", "Finding", "Hypothesis", "make_finding_id", "make_plain"]

CRITICAL: Final = "critical"
WARNING: Final = "warning"

SIGNIFICANT_DIGITS: Final = 4
"""Evidence is read by people, and must not differ in the last bit between two replays."""


@dataclass(frozen=True)
class Change:
    """What is to be done to a call of the user's own code, where it is known.

    Attributes:
        role: as in the field ``script`` of the ``tensors`` message. Code that goes before ``fit`` goes before ``data``
            where ``fit`` is not called, or not with names.
        layer: the layer's path; None for a layer that is known by its class.
        of: the class of such a layer, or of several.
        given: arguments that it is given, or given anew, by name: their text.
        instead: the same, of those that it has, whose text stands in for ``{}``; others are not added.
        without: names of arguments that are left out.
        kind: the class that is called in place of the one that is.
        before: code that goes before the call, which stays as it is; ``x_train`` and ``y_train`` are what `fit` is
            given.
        note: what is to be done to the call, which is shown as it is.
        remark: what is to be known of the changed call.
    """

    role: str
    layer: str | None = None
    of: str | None = None
    given: tuple[tuple[str, str], ...] = ()
    instead: tuple[tuple[str, str], ...] = ()
    without: tuple[str, ...] = ()
    kind: str | None = None
    before: str | None = None
    note: str | None = None
    remark: str | None = None


@dataclass(frozen=True)
class Hypothesis:
    """One possible cause.

    Attributes:
        cause: a short claim.
        confidence: 0 to 1, the engine's own belief; those of one finding need not add up to 1.
        why: two sentences, from the evidence to the cause.
        fix: what to change, in words.
        code: the change, as TensorFlow code.
        changes: the same as changes of the user's own calls; `verdict.own_line` makes ``code`` of them where it can.
    """

    cause: str
    confidence: float
    why: str
    fix: str
    code: str
    changes: tuple[Change, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The hypothesis as plain JSON values."""
        shown = ("cause", "confidence", "why", "fix", "code")
        return {name: make_plain(getattr(self, name)) for name in shown}


@dataclass(frozen=True)
class Finding:
    """One incident, told by the first thing that went wrong; fields as in docs/contract.md."""

    kind: str
    severity: str
    first_step: int
    last_step: int
    title: str
    layer: str | None
    tensor: str | None
    evidence: dict[str, Any]
    hypotheses: tuple[Hypothesis, ...] = ()
    operation: dict[str, str] | None = None
    source: dict[str, Any] | None = None
    worker: str | None = None
    subject: str | None = field(default=None, repr=False)
    """What `id` is made of besides kind and step, where that is not the tensor (the name of a loss)."""

    @property
    def id(self) -> str:
        """The same for the same incident in every replay: kind, first step and tensor."""
        return make_finding_id(self.kind, self.first_step, self.subject if self.subject is not None else self.tensor)

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON values, ready for ``json.dumps(..., allow_nan=False)``."""
        return {
            "id": self.id,
            "kind": self.kind,
            "severity": self.severity,
            "first_step": int(self.first_step),
            "last_step": int(self.last_step),
            "title": self.title,
            "layer": self.layer,
            "tensor": self.tensor,
            "operation": self.operation,
            "source": self.source,
            "evidence": make_plain(self.evidence),
            "hypotheses": [hypothesis.to_json() for hypothesis in self.hypotheses],
            "worker": self.worker,
        }


def make_finding_id(kind: str, first_step: int, subject: str | None) -> str:
    """The id of a finding of a kind, since a step, about a tensor or another subject."""
    return f"{kind}-{first_step}" + (f"-{subject.replace('/', '.')}" if subject else "")


def make_plain(value: Any) -> Any:
    """Turns numpy values, tuples and non-finite floats into JSON's own: a number that is not finite becomes None."""
    if isinstance(value, dict):
        return {str(key): make_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [make_plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return make_plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if math.isfinite(value) else None
    return value
