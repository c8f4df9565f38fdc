"""Clipped gradients that nothing reads, in the user's own code."""

import ast

import pytest

from gradwatch import syntax
from gradwatch.slips.script.unapplied import find_unapplied

CAPTURE = ("gradient", "operation")


STEP = """\
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(x, y)
    grads = tape.gradient(loss, model.trainable_variables)
    {clip}
    {apply}
    return loss
"""
RAW = "optimizer.apply_gradients(zip(grads, model.trainable_variables))"
CLIPPED = "optimizer.apply_gradients(zip(clipped, model.trainable_variables))"


@pytest.fixture
def find(monkeypatch):
    def found(text):
        tree = ast.parse(text)
        monkeypatch.setattr(syntax, "parse", lambda file: tree)
        return [(ast.unparse(one.node), one.clipped) for one in find_unapplied(["train.py"])]

    return found


@pytest.mark.parametrize(
    ("clip", "apply", "told"),
    [
        ("clipped, norm = tf.clip_by_global_norm(grads, 1.0)", RAW, ("grads", "clipped")),
        ("clipped = [tf.clip_by_norm(g, 1.0) for g in grads]", RAW, ("grads", "clipped")),
        ("clipped = [tf.clip_by_value(g, -1, 1) for g in grads]", "opt.apply(grads, variables)", ("grads", "clipped")),
        ("tf.clip_by_global_norm(grads, 1.0)", RAW, ("tf.clip_by_global_norm(grads, 1.0)", None)),
        ("[tf.clip_by_norm(g, 1.0) for g in grads]", RAW, ("tf.clip_by_norm(g, 1.0)", None)),
        ("for g in grads: g = tf.clip_by_norm(g, 1.0)", RAW, ("tf.clip_by_norm(g, 1.0)", None)),
        ("for g in grads: tf.clip_by_norm(g, 1.0)", RAW, ("tf.clip_by_norm(g, 1.0)", None)),
        ("for i, g in enumerate(grads): tf.clip_by_norm(g, 1.0)", RAW, ("tf.clip_by_norm(g, 1.0)", None)),
        ("for g in grads: log(tf.clip_by_norm(g, 1.0))", RAW, None),
        ("for x in batches: tf.clip_by_norm(x, 1.0)", RAW, None),
        ("clipped, norm = tf.clip_by_global_norm(grads, 1.0)", CLIPPED, None),
        ("grads, norm = tf.clip_by_global_norm(grads, 1.0)", RAW, None),
        ("_, norm = tf.clip_by_global_norm(grads, 1.0)", RAW, None),
        ("clipped = tf.clip_by_value(loss, 0, 1)", RAW, None),
        ("grads = [tf.clip_by_norm(g, 1.0) for g in grads]", RAW, None),
        ("for i, g in enumerate(grads): grads[i] = tf.clip_by_norm(g, 1.0)", RAW, None),
        ("new = []\n    for g in grads: g = tf.clip_by_norm(g, 1.0); new.append(g)", RAW, None),
        ("clipped, norm = tf.clip_by_global_norm(grads, 1.0)", "return grads, clipped", None),
        ("clipped, norm = tf.clip_by_global_norm(grads, 1.0)", f"{RAW}\n    log(clipped)", None),
    ],
)
def test_a_clip_in_vain(find, clip, apply, told):
    assert find(STEP.format(clip=clip, apply=apply)) == ([told] if told else [])


def test_in_a_loop_of_the_script_itself(find):
    loop = "for x in data:\n    grads = g(x)\n    c, n = tf.clip_by_global_norm(grads, 1)\n    o.apply(grads, v)"
    assert find(loop) == [("grads", "c")]
