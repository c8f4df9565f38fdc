"""Rewards of all episodes so far are told where those of one are meant; lists that are emptied or cut are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gradwatch.slips.script.grown import find_grown

SCRIPT = """
{before}
for episode in range(200):
    {begin}
    state, done = env.reset(), False
    while not done:
        action = choose(state)
        state, reward, done, _ = env.step(action)
        rewards.append(reward)
    {cut}
    returns, g = [], 0.0
    for r in {over}:
        {line}
        returns.insert(0, g)
    update(returns)
    {end}
"""
AGENT = """
class Agent:
    def __init__(self):
        self.rewards, self.actions = [], []

    def remember(self, action, reward):
        self.actions.append(action)
        self.rewards.append(reward)

    def learn(self):
        g, out = 0.0, np.zeros(len(self.rewards))
        for t in {over}:
            g = self.rewards[t] + 0.99 * g
            out[t] = g
        {end}

agent = Agent()
for episode in range(100):
    {more}
    play(agent)
    agent.learn()
"""
APART = """
def discount(values, gamma=0.99):
    total, found = 0.0, []
    for value in values[::-1]:
        total = value + gamma * total
        found.append(total)
    return found[::-1]

rewards = []
for episode in range(100):
    {begin}
    for step in range(50):
        rewards.append(env.step(policy())[1])
    update(discount({given}))
"""
ONCE = """
rewards = []
for step in range(900):
    rewards.append(env.step(0)[1])
g = 0.0
for r in reversed(rewards):
    g = r + 0.9 * g
"""
BACK = "reversed(range(len(self.rewards)))"
Find = Callable[[str], list[tuple[str, str]]]


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """The list that grows, and the line, in a file that is not run."""

    def read(text: str) -> list[tuple[str, str]]:
        path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # a file is read once
        path.write_text(text)
        return [(one["name"], one["source"]["code"]) for one in find_grown([str(path)])]

    return read


def script(over: str = "reversed(rewards)", line: str = "g = r + 0.99 * g", **parts: str) -> str:
    known = {"before": "rewards = []", "begin": "pass", "cut": "pass", "end": "pass"} | parts
    return SCRIPT.format(over=over, line=line, **known)


def agent(over: str = BACK, end: str = "self.update(out)", more: str = "pass") -> str:
    return AGENT.format(over=over, end=end, more=more)


@pytest.mark.parametrize("over", ["reversed(rewards)", "rewards[::-1]"])
def test_a_list_of_a_script(find: Find, over: str) -> None:
    assert find(script(over)) == [("rewards", f"for r in {over}:")]
    assert find(script(over, line="g = gamma * g + r", before="states, rewards = [], []")) != []


def test_a_list_of_an_agent(find: Find) -> None:
    assert find(agent()) == [("self.rewards", f"for t in {BACK}:")]
    over = "range(len(self.rewards) - 1, -1, -1)"
    assert find(agent(over)) == [("self.rewards", f"for t in {over}:")]


def test_a_list_that_is_handed_over(find: Find) -> None:
    assert find(APART.format(begin="pass", given="rewards")) == [("rewards", "update(discount(rewards))")]
    assert find(APART.format(begin="rewards = []", given="rewards")) == []
    assert find(APART.format(begin="pass", given="rewards[-50:]")) == []


@pytest.mark.parametrize(
    "text",
    [
        script(begin="rewards = []"),
        script(end="rewards = []"),
        script(end="rewards.clear()"),
        script(end="del rewards[:]"),
        script(end="rewards[:] = []"),
        script(end="rewards, states = [], []"),
        script(cut="rewards = rewards[-1000:]"),
        script("reversed(rewards[start:])"),
        script("reversed(list(zip(rewards, dones)))"),  # told apart by what ended
        script(line="g = 0.0 if r is None else g\n        g = r + 0.99 * g"),
        script(line="g = r + g"),
        script("rewards"),
        script(before="rewards = deque(maxlen=50)"),
        script(before="rewards = load()"),
        agent(end="self.rewards = []"),
        agent(end="self.rewards.clear()"),
        agent(more="agent.rewards = []"),
        agent(more="agent = Agent()"),
        agent(more="agent.__init__()"),
        agent(more="play(Agent)"),  # who is given a class may make many
        agent().replace("agent = Agent()", "agents = [Agent() for _ in range(9)]"),
        agent().replace("agent = Agent()", "from run import agent"),  # made elsewhere
        agent().replace("agent = Agent()", "class Other(Agent): pass\nagents = [Other() for _ in range(9)]"),
        ONCE,
    ],
)
def test_what_is_emptied_or_of_one_episode(find: Find, text: str) -> None:
    assert find(text) == []


MANY = "for _ in range(9): agent = Agent()"


@pytest.mark.parametrize(("made", "is_told"), [("agent = Agent()", True), (MANY, False)])
def test_an_agent_of_another_file(tmp_path: Path, made: str, *, is_told: bool) -> None:
    """Who makes one for each episode does so where the training is, and not where its class is."""
    agents, train = tmp_path / "agents.py", tmp_path / "train.py"
    agents.write_text(agent().partition("agent = Agent()")[0])
    train.write_text(f"from agents import Agent\n{made}\n")
    assert bool(find_grown([str(agents), str(train)])) is is_told
