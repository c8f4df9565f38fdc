"""A watch without a server: what it would send is collected."""

import pytest
import tensorflow as tf

import gradwatch
from gradwatch import interception, session, statistic
from tests.hook.recording import Collector, Recording


@pytest.fixture(autouse=True)
def _no_watch_survives(monkeypatch, tmp_path):
    """Nothing that one test watches is watched in the next; what waits goes to a directory of the test's own."""
    monkeypatch.setenv("GRADWATCH_DIR", str(tmp_path / "gradwatch"))
    yield
    for left in interception.active_observers():
        left.close()
    assert not interception.active_observers()


@pytest.fixture
def collectors(monkeypatch):
    """The collectors of the watches begun in this test, in their order."""
    made = []

    def make(**arguments):
        made.append(Collector(**arguments))
        return made[-1]

    monkeypatch.setattr(session, "Sender", make)
    return made


@pytest.fixture
def watch(collectors, request, monkeypatch):
    """`gradwatch.watch`, collected, with full statistics at every step unless a test says otherwise.

    Of all kinds, or of those in the module's ``CAPTURE``: without the others a step is traced in a part of the time.
    Such a module looks at the step as it was traced: TensorFlow need not rewrite it before it runs, nor is what a row
    tells at full traced, nor what computes a bad step again, unless the module is marked with ``rows``.
    """
    wanted = {"capture": request.module.CAPTURE} if hasattr(request.module, "CAPTURE") else {}

    def begin(*targets, budget=0, **options):
        options = wanted | options
        begun = gradwatch.watch(*targets, budget=budget, **options)
        begun.collector = collectors[-1] if collectors else None
        return begun

    if "operation" in wanted.get("capture", ()) and request.node.get_closest_marker("rows") is None:
        monkeypatch.setattr(statistic, "where", lambda _is_due, _dear, cheap: cheap())
        monkeypatch.setattr(session.Watch, "_replay", lambda *_: None)
    if wanted:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    yield begin
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


@pytest.fixture
def read():
    """Closes a watch and gives what it said."""

    def close_and_decode(watch):
        watch.close()
        return Recording(watch.collector.messages)

    return close_and_decode
