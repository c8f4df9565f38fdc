"""Servers for these tests: one that a module's tests share, and as many of their own as a test asks for."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running server, shared by the module; its tests tell their runs apart by name."""
    with Server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers on one directory; the settings are the arguments. All are stopped at the end."""
    started: list[Server] = []

    def start(**settings: Any) -> Server:
        started.append(Server(tmp_path, **settings).start())
        return started[-1]

    yield start
    for one in started:
        one.stop()
