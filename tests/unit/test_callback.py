"""Who is told of which finding, how often, and what becomes of what their functions raise."""

import threading

import pytest

from gradwatch.callback import Callbacks


def finding(name="a", severity="warning", **more):
    return {"id": name, "severity": severity, "review": None, "evidence": {"n": [1]}, **more}


@pytest.fixture
def said():
    return []


@pytest.fixture
def callbacks(said):
    made = Callbacks(said.append)
    yield made
    made.close(10)


def test_each_finding_once_and_once_more_when_it_grows(callbacks):
    heard = []
    callbacks.add(lambda one: heard.append((one["id"], one["severity"], one["last_step"])))
    for step, severity in ((1, "warning"), (2, "warning"), (3, "critical"), (4, "warning"), (5, "critical")):
        callbacks.take([finding(severity=severity, last_step=step), finding("b", last_step=step)])
    callbacks.take([])
    callbacks.take([finding(severity="critical", last_step=6)])
    callbacks.close(10)
    assert heard == [("a", "warning", 1), ("b", "warning", 1), ("a", "critical", 3)]


def test_who_comes_late_is_told_what_is_known(callbacks):
    early, late = [], []
    callbacks.add(lambda one: early.append(one["id"]))
    callbacks.take([finding("a"), finding("b")])
    callbacks.take([finding("b"), finding("c")])
    callbacks.add(lambda one: late.append(one["id"]))
    callbacks.close(10)
    assert (early, late) == (["a", "b", "c"], ["b", "c"])


def test_what_a_person_dismissed_is_not_told(callbacks):
    heard = []
    callbacks.add(lambda one: heard.append(one["id"]))
    reviews = {"a": {"state": "dismissed", "note": ""}, "b": {"state": "acknowledged", "note": ""}}
    callbacks.take([finding(name, review=review) for name, review in reviews.items()])
    callbacks.take([finding("a")])  # reopened
    callbacks.close(10)
    assert heard == ["b", "a"]


def test_an_error_is_said_once_and_the_function_is_still_called(callbacks, said):
    heard, also = [], []

    def stumble(one):
        heard.append(one["id"])
        raise SystemExit(one["id"])

    callbacks.add(stumble)
    callbacks.add(lambda one: also.append(one["id"]))
    callbacks.take([finding("a"), finding("b"), finding("c")])
    callbacks.close(10)
    assert heard == also == ["a", "b", "c"]
    (line,) = said
    assert line.startswith("stumble, given to on_finding, failed: SystemExit: a · training goes on")


def test_calls_come_from_one_thread_of_their_own_and_hold_up_nobody(callbacks, said):
    release, threads = threading.Event(), []

    def wait(_):
        threads.append(threading.current_thread().name)
        release.wait(60)

    callbacks.add(wait)
    callbacks.take([finding("a")])
    callbacks.take([finding("b")])  # returns, though the first call has not
    callbacks.close(0.05)
    assert said == ["a function given to on_finding is still busy after 0.05 s, and is left to itself"]
    release.set()
    callbacks.take([finding("c")])
    callbacks.add(wait)  # of no use any more, and no harm
    assert set(threads) == {"gradwatch-findings"}


def test_each_function_has_a_copy_of_its_own(callbacks):
    seen = []

    def spoil(one):
        one["evidence"]["n"].append(2)
        del one["id"]

    known = [finding()]
    callbacks.add(spoil)
    callbacks.add(seen.append)
    callbacks.take(known)
    callbacks.close(10)
    assert seen == known == [finding()]


def test_a_function_may_close(callbacks):
    closed = threading.Event()

    def close(_):
        callbacks.close(10)
        closed.set()

    callbacks.add(close)
    callbacks.take([finding()])
    assert closed.wait(60)
