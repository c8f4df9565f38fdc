"""Slow copies of a network that take over nearly all of it at once, in the user's own code."""

import ast

import pytest

from gradwatch import syntax
from gradwatch.slips.script.averaged import find_copied, find_lost, find_replaced

CAPTURE = ("gradient", "operation")


LOOP = "for t, w in zip(target.weights, model.weights): "
STEP = "grads = tape.gradient(loss, model.trainable_variables)"


@pytest.fixture
def find(monkeypatch):
    def found(*lines):
        tree = ast.parse("\n".join(lines))
        monkeypatch.setattr(syntax, "parse", lambda file: tree)
        return [round(one["keeps"], 6) for one in find_replaced(["train.py"])]

    return found


@pytest.mark.parametrize(
    ("lines", "keeps"),
    [
        ([f"{LOOP}t.assign(0.005 * t + 0.995 * w)"], 0.005),
        (["tau = 0.01", f"{LOOP}t.assign(tau * t + (1 - tau) * w)"], 0.01),
        (["DECAY = 0.99", f"{LOOP}t.assign((1.0 - DECAY) * t + DECAY * w)"], 0.01),
        (["tau = tf.constant(5e-3)", f"{LOOP}t.assign(w * (1 - tau) + t * tau)"], 0.005),
        (["tau = 0.01", f"{LOOP}t.assign_add((1 - tau) * (w - t))"], 0.01),
        (["tau = 0.01", f"{LOOP}t.assign_sub((1 - tau) * (t - w))"], 0.01),
        (["a = target.get_weights()", "b = model.get_weights()",
          "target.set_weights([0.01 * x + 0.99 * y for x, y in zip(a, b)])"], 0.01),
        (["new = [0.99 * y + 0.01 * x for x, y in zip(target.get_weights(), model.get_weights())]",
          "target.set_weights(new)"], 0.01),
        (["tau = 0.01", f"{LOOP}t.assign(tau * w + (1 - tau) * t)"], None),
        (["tau = 0.01", f"{LOOP}t.assign_add(tau * (w - t))"], None),
        ([f"{LOOP}t.assign(0.5 * t + 0.5 * w)"], None),
        ([f"{LOOP}t.assign(w)"], None),
        (["tau = 0.01", "tau = anneal(tau)", f"{LOOP}t.assign(tau * t + (1 - tau) * w)"], None),
        (["tau = 0.01", "if step % 9 == 0:", f"    {LOOP}t.assign(tau * t + (1 - tau) * w)"], None),
        (["tau = min(0.01, 1 / step)", f"{LOOP}t.assign(tau * t + (1 - tau) * w)"], None),
        (["for t, w in zip(target.weights, grads): t.assign(0.01 * t + 0.99 * w)"], None),
        (["for t, w in zip(target.weights, model.weights): w.assign(0.01 * w + 0.99 * t)"], None),
        (["model.set_weights([0.01 * x + 0.99 * y for x, y in zip(model.get_weights(), target.get_weights())])"], None),
        (["for m, v in zip(means, values): m.assign(0.01 * m + 0.99 * v)"], None),
    ],
)  # fmt: skip
def test_a_copy_that_keeps_next_to_nothing(find, lines, keeps):
    assert find(STEP, *lines) == ([] if keeps is None else [keeps])


COPIES = "for t, w in zip(target.get_weights(), model.get_weights()):"


@pytest.mark.parametrize(
    ("lines", "owner"),
    [
        ([f"{COPIES} t += tau * (w - t)"], "target"),
        ([COPIES, "    t *= 1 - tau", "    t[:] = t + tau * w"], "target"),
        ([f"{COPIES} t = tau * w + (1 - tau) * t"], "target"),
        (["for w in self.net.get_weights(): w[:] = 0"], "self.net"),
        (["model.get_weights()[0][3] = 1.0"], "model"),
        ([COPIES, "    t += tau * (w - t)", "    new.append(t)"], None),
        ([f"{COPIES} new.append(tau * w + (1 - tau) * t)"], None),
        (["for t, w in zip(target.variables, model.get_weights()): t.assign(w)"], None),
        (["weights = model.get_weights()", "weights[0] += 1.0", "model.set_weights(weights)"], None),
        (["for w in model.get_weights(): print(w.shape)"], None),
        (["class Policy:", "    def get_weights(self): return self.w", "for w in p.get_weights(): w *= 0.5"], None),
        (["for w in model.get_weights(): norms = np.abs(w).max()"], None),
    ],
)
def test_copies_of_weights_that_are_changed(monkeypatch, lines, owner):
    tree = ast.parse("\n".join(lines))
    monkeypatch.setattr(syntax, "parse", lambda file: tree)
    assert [one["lost"] for one in find_lost(["train.py"])] == ([] if owner is None else [owner])


FOLLOW = """
def follow(slow, fast, tau=0.005):
    for a, b in zip(slow, fast):
        a.assign({mean})
"""
METHOD = """
class Agent:
    def __init__(self, tau=0.005):
        self.tau = tau
        self.net, self.slow = build(), build()

    def follow(self):
        for a, b in zip(self.slow.variables, self.net.variables):
            a.assign({mean})

    def learn(self):
        tape.gradient(loss, self.net.trainable_variables)
"""


@pytest.mark.parametrize(
    ("text", "call", "keeps"),
    [
        (FOLLOW.format(mean="b * (1 - tau) + a * tau"), "follow(target.variables, model.variables, 0.01)", 0.01),
        (FOLLOW.format(mean="b * (1 - tau) + a * tau"), "follow(target.variables, model.variables)", 0.005),
        (FOLLOW.format(mean="b * tau + a * (1 - tau)"), "follow(target.variables, model.variables)", None),
        (FOLLOW.format(mean="b * tau + a * (1 - tau)"), "follow(target.variables, model.variables, tau=1.0)", None),
        (FOLLOW.format(mean="b * (1 - tau) + a * tau"), "if i % 9 == 0: follow(target.weights, model.weights)", None),
        (FOLLOW.format(mean="b * (1 - tau) + a * tau"), "follow(model.variables, target.variables)", None),
        (METHOD.format(mean="self.tau * a + (1 - self.tau) * b"), "Agent()", 0.005),
        (METHOD.format(mean="self.tau * a + (1 - self.tau) * b"), "Agent(0.02)", 0.02),
        (METHOD.format(mean="self.tau * b + (1 - self.tau) * a"), "Agent(0.02)", None),
    ],
)
def test_a_share_that_a_function_or_an_object_is_given(find, text, call, keeps):
    assert find(STEP, text, call) == ([] if keeps is None else [keeps])


LEARN = """
def learn(s, a, r, s2):
    best = tf.reduce_max({asked}, axis=1)
    goal = r + gamma * best
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((goal - pick(model(s), a)) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
{last}

for episode in range(9):
    while True:
        act()
        if len(memory) > 32:
            learn(*memory.sample())
{inner}
{outer}
"""
COPY = "target.set_weights(model.get_weights())"


@pytest.mark.parametrize(
    ("asked", "last", "inner", "outer", "is_told"),
    [
        ("target(s2)", "", COPY, "", True),
        ("target.predict(s2)", "", COPY, "", True),
        ("target(s2)", COPY, "", "", True),
        ("target(s2)", "", f"    {COPY}", "", True),
        ("target(s2)", "", COPY, "learn(*memory.all())", False),
        ("target(s2)", "", "", COPY, False),
        ("target(s2)", "", f"if step % 50 == 0: {COPY}", "", False),
        ("target(s2)", "", f"if step % 50: continue\n        {COPY}", "", False),
        ("target(s2)", "", "target.set_weights(best.weights)", "", False),
        ("model(s2)", "", COPY, "", False),
    ],
)
def test_a_target_network_that_is_copied_at_each_step(monkeypatch, asked, last, inner, outer, is_told):
    text = LEARN.format(asked=asked, last=f"    {last}", inner=f"        {inner}", outer=f"    {outer}")
    monkeypatch.setattr(syntax, "parse", lambda file: ast.parse(text))
    assert [one["recopied"] for one in find_copied(["train.py"])] == [True] * is_told


def test_a_target_network_that_is_copied_behind_a_loop_of_steps(monkeypatch):
    """Of an actor that is trained once for each episode, behind a critic that is trained at each step."""
    text = LEARN.format(
        asked="target(s2)", last="    pass", inner="        pass", outer="    actor.train_on_batch(s, a)"
    )
    text += f"    {COPY}\n"
    monkeypatch.setattr(syntax, "parse", lambda file: ast.parse(text))
    assert find_copied(["train.py"]) == []


def test_a_target_network_that_is_copied_behind_a_step_of_another_network(monkeypatch):
    actor = "gradients = tape.gradient(loss, actor.trainable_variables)\n    rate.apply_gradients(gradients)"
    text = LEARN.format(asked="target(s2)", last="", inner="        pass", outer="")
    text += f"\ndef end(loss):\n    {actor}\n    {COPY}\n"
    monkeypatch.setattr(syntax, "parse", lambda file: ast.parse(text))
    assert find_copied(["train.py"]) == []
