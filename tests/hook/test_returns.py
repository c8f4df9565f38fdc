"""Returns that are summed from the first reward on, in the user's own code."""

import ast

import pytest

from gradwatch import syntax
from gradwatch.slips.script.returns import find_past

PLAY = """
rewards, dones = [], []
while not done:
    action = np.random.choice(4, p=policy(state))
    state, reward, done = env.step(action)
    rewards.append(reward)
    dones.append(done)
"""
SUM = """
out, g = [], 0.0
for r in {rewards}:
    g = {sum}
    out.{keep}(g)
"""
USUAL = {"rewards": "rewards", "sum": "r + GAMMA * g", "keep": "append"}


@pytest.fixture
def find(monkeypatch):
    def found(*lines):
        tree = ast.parse("\n".join(lines))
        monkeypatch.setattr(syntax, "parse", lambda file: tree)
        return len(find_past(["train.py"]))

    return found


@pytest.mark.parametrize(
    ("parts", "end", "is_told"),
    [
        ({}, "step(out)", True),
        ({"sum": "GAMMA * g + r"}, "step(out)", True),
        ({"sum": "r + 0.99 * g * 0.95"}, "step(out)", True),
        ({}, "scaled = rewards / np.std(out)", False),
        ({}, "step((out - np.mean(out)) / np.std(out))", True),
        ({}, "spread.update(out); print(out)", False),
        ({}, "spread.update(np.array(out)); plt.plot(out)", False),
        ({}, "agent.update(states, out)", True),
        ({}, "for i in range(9, -1, -1): g = rewards[i] + GAMMA * g", False),
        ({}, "step(out)\nfor i in range(9, -1, -1): show(i)", True),
        ({"rewards": "reversed(rewards)"}, "out.reverse()", False),
        ({"rewards": "rewards[::-1]"}, "out = out[::-1]", False),
        ({"rewards": "rewards[::-1]", "keep": "appendleft"}, "", False),
        ({}, "rewards.reverse()", False),
        ({}, "out = np.flip(out)", False),
        ({"sum": "r + g"}, "", False),
        ({"sum": "0.05 * r + 0.95 * g"}, "", False),
        ({"sum": "r + GAMMA * v"}, "", False),
        ({"rewards": "noise"}, "", False),
    ],
)
def test_returns_that_hold_the_past(find, parts, end, is_told):
    assert find(PLAY, SUM.format(**(USUAL | parts)), end) == is_told
    assert not find(PLAY.replace("choice", "shuffle"), SUM.format(**(USUAL | parts)), end), "no action is drawn"
    assert not find(PLAY.replace("env.step(action)", "load()"), SUM.format(**(USUAL | parts)), end), "no environment"


def test_environments_whose_method_has_another_name(find):
    by_name = PLAY.replace("env.step", "house.act")
    of_arrays = FUNCTION.format(
        loop="for t in range(len(gained)): g = gained[t] + GAMMA * g; out[t] = g",
        call="returns_of(np.array(rewards), dones)",
    )
    drawn = "@tf.function\ndef choose(state): return tf.random.categorical(policy(state), 1)[:, 0]"
    by_function = by_name.replace("np.random.choice(4, p=policy(state))", "choose(state).numpy()")
    assert find(by_name, of_arrays)
    assert find(drawn, by_function, of_arrays)
    assert not find(by_function, "def shuffled(x): return np.random.choice(x)", of_arrays), "another function draws"
    assert not find(by_name.replace("house.act(action)", "house.act(state)"), of_arrays), "no action is given"
    assert not find(by_name.replace("state, reward, done", "reward"), of_arrays), "a single number is given"


FUNCTION = """
def returns_of(gained, ends):
    out, g = np.zeros(len(gained)), 0.0
    {loop}
    return out


returns = {call}
"""


@pytest.mark.parametrize(
    ("loop", "call", "is_told"),
    [
        ("for t in range(len(gained)): g = gained[t] + GAMMA * g; out[t] = g", "returns_of(rewards, dones)", True),
        ("for t, r in enumerate(gained): g = r + GAMMA * g; out[t] = g", "returns_of(rewards, dones)", True),
        (
            "for r, e in zip(gained, ends): g = r + GAMMA * g * (1 - e); out.append(g)",
            "returns_of(rewards, dones)",
            True,
        ),
        ("for t in reversed(range(9)): g = gained[t] + GAMMA * g; out[t] = g", "returns_of(rewards, dones)", False),
        ("for t in range(8, -1, -1): g = gained[t] + GAMMA * g; out[t] = g", "returns_of(rewards, dones)", False),
        (
            "for t in range(len(gained)): g = gained[t] + GAMMA * g; out[t] = g",
            "returns_of(rewards[::-1], dones)",
            False,
        ),
        (
            "for t in range(len(gained)): g = gained[t] + GAMMA * g; out[t] = g",
            "returns_of(rewards, dones)[::-1]",
            False,
        ),
        ("for t in range(len(gained)): g = gained[t] + GAMMA * g; out[t] = g", "returns_of(noise, dones)", False),
    ],
)
def test_returns_that_a_function_makes(find, loop, call, is_told):
    assert find(PLAY, FUNCTION.format(loop=loop, call=call)) == is_told
