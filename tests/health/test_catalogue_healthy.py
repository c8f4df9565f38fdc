"""Every healthy training of the catalogue, played once: not a word."""

from __future__ import annotations

import pytest

from tests.health.catalogue.play import play
from tests.health.catalogue.seventh import HEALTHY


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy(name: str) -> None:
    played = play(HEALTHY[name])
    assert played.n_steps > 100
    assert not played.findings, played.describe()
