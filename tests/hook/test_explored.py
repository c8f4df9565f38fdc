"""Explorations that rise, end at once or never end are told; those that fall, and draws for other ends, are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gradwatch.slips.script.explored import find_explored

FUNCTION = """
epsilon, EPS_MIN, DECAY = 1.0, 0.05, 0.99

def act(state):
    if {test}:
        return {first}
    return {other}

for episode in range(100):
    play(act)
    {change}
"""
AGENT = """
class Agent:
    def __init__(self, epsilon=1.0, epsilon_min=0.01, epsilon_decay=0.995):
        self.epsilon = epsilon
        self.epsilon_min = epsilon_min
        {kept}

    def act(self, state):
        return env.action_space.sample() if np.random.rand() <= self.epsilon else np.argmax(self.model(state))

    def replay(self):
        {change}
"""
DRAWN, BEST = "random.randrange(4)", "int(np.argmax(model.predict(state)))"
FALL = "epsilon = max(EPS_MIN, epsilon * DECAY)"
KEPT = "self.epsilon_decay = epsilon_decay"
Find = Callable[[str], list[tuple[str, str]]]


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """How an exploration goes wrong, and the line, in a file that is not run."""

    def read(text: str) -> list[tuple[str, str]]:
        path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # a file is read once
        path.write_text(text)
        return [(one["explores"], one["source"]["code"]) for one in find_explored([str(path)])]

    return read


def acting(test: str, first: str = DRAWN, other: str = BEST, change: str = FALL) -> str:
    return FUNCTION.format(test=test, first=first, other=other, change=change)


@pytest.mark.parametrize("change", [FALL, "epsilon *= 0.99", "epsilon -= 0.01", "epsilon = epsilon * DECAY"])
def test_an_exploration_that_rises(find: Find, change: str) -> None:
    test = "np.random.rand() > epsilon"
    assert find(acting(test, change=change)) == [("inverted", f"if {test}:")]
    test = "epsilon < rng.random()"
    assert find(acting(test, change=change)) == [("inverted", f"if {test}:")]
    test = "random.random() < epsilon"
    assert find(acting(test, BEST, DRAWN, change)) == [("inverted", f"if {test}:")]


@pytest.mark.parametrize(
    "text",
    [
        acting("np.random.rand() < epsilon"),
        acting("epsilon > np.random.uniform(0, 1)"),
        acting("np.random.rand() > epsilon", BEST, DRAWN),
        acting("np.random.rand() > epsilon", change="epsilon *= 1.01"),  # the chance of the best, which rises
        acting("np.random.rand() > epsilon", change="epsilon += 0.01"),
        acting("np.random.rand() > epsilon", change="pass"),
        acting("np.random.rand() > epsilon", change="epsilon = schedule(episode)"),
        acting("np.random.rand() > epsilon", "rng.normal()", "policy(state)"),  # of no choice
        acting("np.random.rand() > epsilon", DRAWN, DRAWN),
        acting("np.random.rand() < epsilon", change="epsilon = min(1.0, epsilon * DECAY)"),
        acting("np.random.rand() < epsilon", change="epsilon = min(limit(), epsilon * DECAY)"),
        acting("np.random.rand() < epsilon", change="epsilon = max(EPS_MIN, epsilon - 0.01)"),
        acting("len(memory) > epsilon"),
        AGENT.format(kept=KEPT, change="self.epsilon = max(self.epsilon_min, self.epsilon * self.epsilon_decay)"),
        AGENT.format(kept=KEPT, change="self.epsilon *= self.epsilon_decay"),
        AGENT.format(kept=KEPT, change="decay(self, 'epsilon_decay')"),
        AGENT.format(kept="", change="pass").replace(", epsilon_decay=0.995", ""),  # all at random, as it may be meant
        AGENT.format(kept=KEPT, change="pass").replace("epsilon=1.0", "epsilon=0.1"),
        AGENT.format(kept=KEPT, change="self.epsilon, self.beta = self.schedule(self.step)"),
        AGENT.format(kept=KEPT, change="setattr(self, 'epsilon', 0.1)"),
        AGENT.format(kept=KEPT, change="pass") + "for agent.epsilon in np.linspace(1.0, 0.1, 50): play(agent)",
        acting("np.random.rand() < epsilon").replace("epsilon, EPS_MIN, DECAY = 1.0", "epsilon, EPS_MIN, DECAY = 0.05"),
        acting("np.random.rand() > epsilon").replace("epsilon", "teacher_prob"),
        acting("np.random.rand() < epsilon", change="epsilon = min(epsilon * DECAY, CAP)").replace("EPS_MIN", "CAP"),
        "def act(a, /, b=1, *, c=2): return a",
    ],
)
def test_what_falls_or_is_meant(find: Find, text: str) -> None:
    assert find(text) == []


def test_the_wrong_end(find: Find) -> None:
    change = "epsilon = min(EPS_MIN, epsilon * DECAY)"
    assert find(acting("np.random.rand() < epsilon", change=change)) == [("lowest", change)]
    change = "epsilon = max(1.0, epsilon * DECAY)"
    assert find(acting("np.random.rand() < epsilon", change=change)) == [("highest", change)]
    change = "self.epsilon = np.minimum(self.epsilon_min, self.epsilon_decay * 1)"
    assert find(AGENT.format(kept=KEPT, change=change)) == []
    change = "self.epsilon = min(self.epsilon * self.epsilon_decay, self.epsilon_min)"
    assert find(AGENT.format(kept=KEPT, change=change)) == [("lowest", change)]


@pytest.mark.parametrize("kept", [KEPT, "pass"])
def test_a_chance_that_nothing_lowers(find: Find, kept: str) -> None:
    assert [how for how, _ in find(AGENT.format(kept=kept, change="pass"))] == ["always"]
