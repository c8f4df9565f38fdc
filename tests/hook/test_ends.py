"""Targets that go on beyond an episode's end are told where the batch tells of it; those that need no end are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gradwatch.slips.script.ends import find_unread_ends

LOOP = """
def replay(batch_size):
    batch = random.sample(memory, batch_size)
    for state, action, reward, next_state, done in batch:
        q = model.predict(state)
        {line}
        model.fit(state, q, verbose=0)
"""
ARRAYS = """
class Agent:
    def learn(self):
        states, actions, rewards, next_states, dones = self.buffer.sample(32)
        later = self.target(next_states).numpy().max(axis=1)
        {line}
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((targets - picked(self.model(states), actions)) ** 2)
"""
ROWS = """
def replay(batch):
    states = np.array([i[0] for i in batch])
    rewards = np.array([i[2] for i in batch])
    next_states = np.array([i[3] for i in batch])
    dones = np.array([i[4] for i in batch])
    targets = rewards + GAMMA * np.amax(model.predict_on_batch(next_states), axis=1)
    {more}
"""
GIVEN = """
def learn(state, action, reward, next_state, {end}):
    target = reward + gamma * np.max(model.predict(next_state), axis=1)
"""
NUMBER = "q[0][action] = reward + gamma * np.amax(model.predict(next_state)[0])"
TARGETS = "targets = rewards + self.gamma * later"
Find = Callable[[str], list[tuple[str, str]]]


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """What no target reads, and the line, in a file that is not run."""

    def read(text: str) -> list[tuple[str, str]]:
        path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # a file is read once
        path.write_text(text)
        return [(*one["unread"], one["source"]["code"]) for one in find_unread_ends([str(path)])]

    return read


@pytest.mark.parametrize(
    "line",
    [
        NUMBER,
        "q[0][action] = 0.95 * target.predict(next_state).max() + reward",
        "q[0, action] = float(reward) + gamma * np.max(model(next_state))",
    ],
)
def test_a_loop_over_a_batch(find: Find, line: str) -> None:
    assert find(LOOP.format(line=line)) == [("done", line)]


def test_states_that_are_stacked_beforehand(find: Find) -> None:
    text = LOOP.replace(
        "    for", "    nexts = np.array([m[3] for m in batch])\n    qn = model.predict(nexts)\n    for"
    )
    line = "q[0][action] = reward + gamma * np.amax(qn[0])"
    assert find(text.format(line=line)) == [("done", line)]


def test_arrays_of_a_batch(find: Find) -> None:
    assert find(ARRAYS.format(line=TARGETS)) == [("dones", TARGETS)]
    line = "targets = rewards + GAMMA * np.amax(model.predict_on_batch(next_states), axis=1)"
    assert find(ROWS.format(more="model.train_on_batch(states, targets)")) == [("dones", line)]
    assert find(GIVEN.format(end="done"))[0][0] == "done"


@pytest.mark.parametrize(
    "text",
    [
        LOOP.format(line=NUMBER.replace("np.amax", "(not done) * np.amax")),
        LOOP.format(line="if done: continue\n        " + NUMBER),
        LOOP.format(line=NUMBER.replace("gamma *", "gamma * mask *")),
        LOOP.format(line=NUMBER.replace("gamma *", "")),  # all that is to come counts as much
        LOOP.format(line=NUMBER.replace("gamma *", "2.0 *")),
        LOOP.format(line="later = 0 if next_state is None else 1\n        " + NUMBER),
        LOOP.format(line=NUMBER).replace(", done in", ", _done in"),  # left out by its name
        LOOP.format(line=NUMBER).replace(", done in", ", truncated in"),  # a next state there is
        LOOP.format(line=NUMBER).replace("next_state,", "gamma, next_state,"),  # a discount of each sample
        LOOP.format(line="q[0][action] = reward + gamma * np.amax(table[action])"),  # no network
        LOOP.format(line=NUMBER) + "env = gym.make('Pendulum-v1')",
        LOOP.format(line=NUMBER) + "class E:\n    def step(self, a):\n        return self.x, 1.0, self.t >= 200, {}\n",
        LOOP.format(line=NUMBER)
        + "class E:\n    def step(self, a):\n        done = False\n        return 1, 2, done\n",
        LOOP.format(line=NUMBER) + "from dm_control import suite",
        LOOP.format(line=NUMBER) + "env = gym.make('FetchReach-v2')",
        ARRAYS.format(line=TARGETS).replace("buffer.sample", "buffer.sample_nonterminal"),
        ARRAYS.format(line="targets = rewards + self.gamma * later * (1 - dones)"),
        ARRAYS.format(line="later = later * (1.0 - dones)\n        " + TARGETS),
        ARRAYS.format(line="later[dones] = 0\n        " + TARGETS),
        ARRAYS.format(line="later = np.where(live, later, 0)\n        " + TARGETS),
        ARRAYS.format(line="targets = bonus + self.gamma * later"),
        ROWS.format(more="targets[dones == 1] = rewards[dones == 1]"),
    ],
)
def test_what_reads_the_end_or_has_none(find: Find, text: str) -> None:
    assert find(text) == []


def test_an_episode_that_ends_by_more_than_its_time(find: Find) -> None:
    end = "class E:\n    def step(self, a):\n        done = {}\n        return self.x, 1.0, done, {{}}\n"
    assert len(find(LOOP.format(line=NUMBER) + end.format("self.t >= self.limit"))) == 0
    assert len(find(LOOP.format(line=NUMBER) + end.format("self.t >= 9 or self.x > 1"))) == 1
    assert len(find(LOOP.format(line=NUMBER) + end.format("self.x > 1"))) == 1


ROLLOUT = """
for it in range(100):
    states, rewards, ends = [], [], []
    for _ in range(32):
        state, reward, done, _ = env.step(policy(state))
        states.append(state), rewards.append(reward){keep}
    running = value(state)
    returns = np.zeros((32, 16))
    for t in reversed(range(32)):
        {line}
        returns[t] = running
    update(np.concatenate(states), returns.reshape(-1)){more}
"""
BACK = "running = rewards[t] + GAMMA * running"
KEEP = ", ends.append(done)"


def test_returns_of_steps_whose_ends_are_kept_and_never_read(find: Find) -> None:
    assert find(ROLLOUT.format(keep=KEEP, line=BACK, more="")) == [("done", BACK)]
    one_by_one = ROLLOUT.replace("for t in reversed(range(32))", "for reward in rewards[::-1]")
    line = "running = self.gamma * running + reward"
    assert find(one_by_one.format(keep=KEEP, line=line, more="")) == [("done", line)]
    within = "def play():" + ROLLOUT.replace("\n", "\n    ")
    assert find(within.format(keep=KEEP, line=BACK, more="")) == [("done", BACK)]


@pytest.mark.parametrize(
    "text",
    [
        ROLLOUT.format(keep=KEEP, line="running = rewards[t] + GAMMA * running * (1 - ends[t])", more=""),
        ROLLOUT.format(keep=KEEP, line="running *= 1 - ends[t]\n        " + BACK, more=""),
        ROLLOUT.format(keep=KEEP, line=BACK, more="\n    print(np.sum(ends))"),  # it may be masked by it elsewhere
        ROLLOUT.format(keep=KEEP + "\n        if done: break", line=BACK, more=""),  # an episode, and no more
        ROLLOUT.format(keep="", line=BACK, more=""),  # it may know of none
        ROLLOUT.format(keep=KEEP, line="running = rewards[t] + running", more=""),
        ROLLOUT.format(keep=KEEP, line=BACK.replace("GAMMA", "keep(t)"), more=""),
        ROLLOUT.format(keep=KEEP, line=BACK, more="\nenv = gym.make('Pendulum-v1')"),
        ROLLOUT.replace("reversed(range(32))", "range(32)").format(keep=KEEP, line=BACK, more=""),
    ],
)
def test_returns_that_end_or_need_not(find: Find, text: str) -> None:
    assert find(text) == []
