"""Words for numbers of Python's that a compiled step goes on with: random ones, and those that change later."""

from __future__ import annotations

from typing import Any, Final

from gradwatch_server.health.episode import Outdated
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = ["tell_outdated"]

DRAW_CODE: Final = """\
# In a function that TensorFlow compiles, let TensorFlow draw: anew at each step
noise = tf.random.normal(tf.shape(x), stddev=0.1)
others = tf.random.uniform([batch_size], 0, n_items, dtype=tf.int32)"""

VALUE_CODE: Final = """\
# A variable is read at each step; a number of Python's only while the step is compiled
{name} = tf.Variable({value}, trainable=False, dtype=tf.float32)
# ... where the loop or a callback changes it:
{name}.assign(new_value)"""


def tell_outdated(lead: Outdated, scene: Scene) -> Finding:
    """The finding of one number."""
    traced = scene.setup.traced[lead.place] if lead.place < len(scene.setup.traced) else {}
    name, value = str(traced.get("name", "a number of Python's")), traced.get("value")
    title, text, hypothesis = _say_draw(name, lead) if value is None else _say_value(name, float(value), lead)
    if lead.closed_step is not None:
        title += f", until it was compiled anew at {say_step(lead.closed_step)}"
    source: dict[str, Any] | None = traced.get("source") or None
    return tell(
        lead,
        scene,
        title=title,
        source=source,
        evidence=scene.evidence(text, name=name, value=value),
        hypotheses=[hypothesis],
        subject=name,
    )


def _say_draw(name: str, lead: Outdated) -> tuple[str, str, Hypothesis]:
    evidence = (
        f"{name} is drawn by Python, in a function that TensorFlow runs only to compile the step. What it gave then is "
        f"a constant of the compiled step, which has run with it since {say_step(lead.first_step)}."
    )
    return (
        f"Every step gets the same random numbers: {name} was drawn once, when the step was compiled",
        evidence,
        Hypothesis(
            "Random numbers of Python or NumPy inside a compiled function",
            0.95,
            "A compiled step runs TensorFlow's operations and no Python. What NumPy or `random` draw is drawn while it "
            "is compiled, and the same from then on: noise, negatives, masks and choices that should vary do not.",
            "Draw it with `tf.random` in the function, or outside of it and hand it over as an argument (a tensor).",
            DRAW_CODE,
        ),
    )


def _say_value(name: str, value: float, lead: Outdated) -> tuple[str, str, Hypothesis]:
    was = say_number(value)
    evidence = (
        f"{name} was {was} when TensorFlow compiled the step that reads it. It has been another number since "
        f"about {say_step(lead.first_step)}; the compiled step still computes with {was}."
    )
    return (
        f"The step goes on with {name} = {was}: it has changed since the step was compiled",
        evidence,
        Hypothesis(
            f"{name} is a number of Python's, and the compiled step read it once",
            0.9,
            "A compiled step runs TensorFlow's operations and no Python. A number that it takes from an attribute or a "
            "global is a constant of it: what a loop or a callback makes of the number later does not reach it.",
            f"Make {name} a `tf.Variable` and `assign` to it, or hand it to the function as a tensor.",
            VALUE_CODE.format(name=name, value=was),
        ),
    )
