"""What is captured and how often, without a training: `watch`, a person and the governor together."""

import pytest

from gradwatch.errors import ProtocolError
from gradwatch.governor import Governor
from gradwatch.plan import Control, Plan

KINDS = ("gradient", "weight", "update", "operation")


def plan(every=1, budget=0.0):
    return Plan(every, KINDS, Governor(budget))


def test_what_watch_was_told_is_told_once():
    one = plan(every=5)
    assert one.tell(lambda: 0) == {
        "type": "capture",
        "seq": 0,
        "step": 1,
        "period": 5,
        "every": 0,
        "kinds": list(KINDS),
        "until_step": None,
        "cost": None,
        "reason": "budget",
    }
    assert one.tell(lambda: 1) is None


def test_another_cadence_and_back():
    one = plan(every=5)
    one.take(Control(every=3), step=10)
    assert one.period == 3
    told = one.tell(lambda: 11)
    assert (told["period"], told["every"], told["reason"]) == (3, 3, "control")
    one.take(Control(every=0), step=20)
    assert one.period == 5
    assert one.tell(lambda: 21)["every"] == 0


def test_kinds_are_chosen_among_those_that_are_captured_and_gradients_stay():
    one = plan()
    one.take(Control(kinds=("activation", "operation")), step=0)
    assert one.kinds == ("gradient", "operation")
    assert one.tell(lambda: 1)["kinds"] == ["gradient", "operation"]
    one.take(Control(kinds=KINDS), step=0)
    assert one.kinds == KINDS


def test_everything_for_some_steps():
    one = plan(every=100)
    one.take(Control(kinds=("weight",)), step=4)
    one.take(Control(everything_for=50), step=10)
    assert (one.period, one.kinds) == (1, KINDS)
    told = one.tell(lambda: 11)
    assert (told["period"], told["until_step"], told["kinds"]) == (1, 61, list(KINDS))
    one.observe(1, 0.1, 0.0, last_step=59)
    assert one.period == 1
    one.observe(1, 0.1, 0.0, last_step=60)
    assert (one.period, one.kinds) == (100, ("gradient", "weight"))
    assert one.tell(lambda: 61)["until_step"] is None


def test_a_second_wish_for_everything_never_shortens_the_first():
    one = plan(every=100)
    one.take(Control(everything_for=50), step=10)
    one.take(Control(everything_for=5), step=12)
    assert one.tell(lambda: 13)["until_step"] == 61


def settle(one, full_cost):
    """Trains, with steps of 10 ms, until the governor has decided."""
    step = 0
    while one.governor.full_cost is None:
        n, used_s = 0, 0.0
        while used_s < 0.1:
            used_s += 0.01 * (1 + full_cost * (step % one.period == 0))
            step, n = step + 1, n + 1
        one.observe(n, used_s, 0.0, step)
    return step


def test_what_the_governor_decides_is_told_and_its_blocks_are_not():
    one = plan(budget=0.02)
    one.tell(lambda: 0)
    while not one.governor.is_measuring:
        one.observe(10, 0.1, 0.0, 10)
    assert one.tell(lambda: 10) is None
    step = settle(one, 1.0)
    told = one.tell(lambda: step)
    assert (told["period"], told["every"], told["reason"]) == (one.governor.decided_period, 0, "budget")
    assert told["period"] == pytest.approx(50, rel=0.2)
    assert told["cost"] == pytest.approx(0.02, rel=0.2)


def test_the_governor_rests_while_a_person_has_decided():
    one = plan(budget=0.02)
    one.take(Control(every=7), step=0)
    for step in range(100):
        one.observe(10, 0.1, 0.0, step)
    assert one.governor.full_cost is None
    one.take(Control(every=0), step=100)
    settle(one, 1.0)
    assert one.period > 7


def test_the_cost_of_what_a_person_asked_for():
    one = plan(budget=0.02)
    settle(one, 1.0)
    one.take(Control(every=4), step=100)
    assert one.cost == pytest.approx(0.25, rel=0.1)
    one.take(Control(everything_for=10), step=100)
    assert one.cost == pytest.approx(1.0, rel=0.1)


def test_a_control_as_it_travels():
    message = {"type": "control", "id": "x", "every": 0, "kinds": ["weight"], "everything_for": 50, "stop": "enough"}
    assert Control.of(message) == Control(0, ("weight",), 50, "enough")
    assert Control.of({"type": "control", "id": "x"}) == Control()


@pytest.mark.parametrize(
    "wish",
    [
        {"every": -1},
        {"every": True},
        {"every": 2**31},
        {"everything_for": 0},
        {"everything_for": 1.5},
        {"kinds": []},
        {"kinds": "weight"},
        {"kinds": ["gradeint"]},
        {"stop": ""},
        {"stop": 5},
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(wish):
    with pytest.raises(ProtocolError, match=f"control: expected {next(iter(wish))}"):
        Control.of({"type": "control", "id": "x", **wish})
