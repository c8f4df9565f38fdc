"""Every training of the catalogue, played once: what is broken is found, its culprit named; the healthy are silent."""

from __future__ import annotations

import pytest

from tests.health.catalogue.blind import BROKEN, HEALTHY
from tests.health.catalogue.play import is_found, names_culprit, play


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name: str) -> None:
    case = BROKEN[name]
    played = play(case.train)
    causes = [[hypothesis.cause for hypothesis in one.hypotheses[:2]] for one in played.findings]
    assert is_found(case, played), played.describe()
    assert names_culprit(case, played), (played.describe(), causes)


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy(name: str) -> None:
    played = play(HEALTHY[name])
    assert played.n_steps > 100
    assert not played.findings, played.describe()
