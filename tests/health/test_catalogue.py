"""Broken trainings of the catalogue, each played once: it is found, and its culprit named.

`make test` plays the newest of each family of defects that is found and not long, `make thorough` the others.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.health.catalogue.play import is_found, names_culprit, play
from tests.health.catalogue.sixteenth import BROKEN

LONG = {
    "arm kinematics",
    "battery cells",
    "bearing faults once more",
    "citation gcn",
    "ecg leads",
    "event logs",
    "film look",
    "icu deterioration",
    "leaf spectra",
    "lowlight raw",
    "machine alarms",
    "radar codec",
    "recycling bins",
    "review sentiment again",
    "review stars",
    "robot heading",
    "slate dpp",
    "taxonomy ball",
    "texture cnn",
    "tokamak disrupt",
    "ticket routing again",
    "tsdf shape",
    "wind farm power",
}
ROUNDED = {"antimicrobial peptides"}
"""How the processor rounds decides how they fail to learn: what is told here may be told otherwise there."""
NEWEST = {case.family: name for name, case in BROKEN.items() if not case.gap and name not in LONG | ROUNDED}


def marked(name: str) -> Any:
    """A known gap must be one: where it is closed, the mark goes."""
    gap = BROKEN[name].gap
    marks = [pytest.mark.xfail(reason=gap, strict=True)] if gap else []
    if name != NEWEST.get(BROKEN[name].family):
        marks.append(pytest.mark.thorough)
    return pytest.param(name, marks=marks)


def test_what_is_left_out_is_there() -> None:
    assert BROKEN.keys() >= LONG | ROUNDED


@pytest.mark.parametrize("name", [marked(name) for name in BROKEN])
def test_broken(name: str) -> None:
    case = BROKEN[name]
    played = play(case.train)
    causes = [[hypothesis.cause for hypothesis in one.hypotheses[:2]] for one in played.findings]
    assert is_found(case, played), played.describe()
    assert names_culprit(case, played), (played.describe(), causes)
