"""A cause that findings of nothing learned may have: an input that is one number in every sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gradwatch_server.health.episode import Behind, Collapsed, Episode, Plateau, Unrelated, Unskilled
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.scene import NAMES_LIMIT, Facts
from gradwatch_server.health.verdict.spelling import list_names, say_number

__all__ = ["with_constant"]

_CODE: Final = """\
print(np.unique({name}, return_counts=True))          # as it enters the model: after the lookup, the scaling, the cast
# Of words or codes: which does the lookup not know? All of these get one index (0, or 1 beside a mask).
print(sorted(set(words) - set(lookup.get_vocabulary()))[:20])"""


def with_constant(finding: Finding, lead: Episode, facts: Facts) -> Finding:
    """A finding with inputs that never change among its causes."""
    constants = facts.constants.get(max(lead.stream, 0))
    if constants is None or not isinstance(lead, (Behind, Collapsed, Plateau, Unrelated, Unskilled)):
        return finding
    found, is_all = constants.read()
    if not found:
        return finding
    names = [one.name.partition("/")[2] or one.name for one in found[:NAMES_LIMIT]]
    are = "is" if len(found) == 1 else "are"
    values = list(dict.fromkeys(say_number(one.value) for one in found[:NAMES_LIMIT]))
    cause = Hypothesis(
        f"{list_names(names)} {are} the same in every sample: {list_names(values)}",
        0.75 if is_all else 0.35,
        f"In {found[0].n_rows} batches looked at not one element was another number: the model is told nothing by it. "
        "Words and codes that a lookup does not find all get one index (another spelling, upper and lower case, "
        "another vocabulary); numbers that are divided twice, or cut to whole ones, are all 0.",
        "Look at what enters training, and at what the lookup or the scaling makes of the data.",
        _CODE.format(name=names[0]),
    )
    causes = sorted((cause, *finding.hypotheses), key=lambda one: -one.confidence)
    evidence = finding.evidence | {"constant_inputs": [one.name for one in found[:NAMES_LIMIT]]}
    return replace(finding, hypotheses=tuple(causes), evidence=evidence)
