"""Words for numbers of Python's that a compiled step goes on with: random ones, and those that change later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gradwatch_server.health.episode import Outdated
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.spelling import say_number, say_step

__all__ = ["tell_outdated"]

DRAW_CODES: Final = {
    "int": "tf.random.uniform([n], 0, n_items, dtype=tf.int32)",
    "normal": "tf.random.normal(shape)",
    "shuffle": "tf.random.shuffle(values)",
    "perm": "tf.random.shuffle(tf.range(n))",
    "choice": "tf.random.uniform([n], 0, n_items, dtype=tf.int32)           # places, to gather by",
}
"""What draws so in TensorFlow, by what a drawing function's name has in it."""
DRAW_CODE: Final = """\
# TensorFlow draws anew each time, where NumPy drew while the function was compiled:
{drawn}"""

THAWED: Final = ".trainable"
THAWED_CODE: Final = """\
{layer}.trainable = True
model.compile(optimizer=tf.keras.optimizers.Adam(1e-5), loss=loss, metrics=metrics)     # anew, after the change"""

VALUE_CODE: Final = """\
# A variable is read at each step, a Python number once, while the step is compiled:
{name} = tf.Variable({value}, trainable=False, dtype=tf.float32)
# where it is changed (in a callback: self.model.NAME), never by `=` again, which would put a number in its place:
{name}.assign(new_value)"""


def tell_outdated(lead: Outdated, scene: Scene) -> Finding:
    """The finding of one number."""
    traced = scene.setup.traced[lead.place] if lead.place < len(scene.setup.traced) else {}
    name, value = str(traced.get("name", "a number of Python's")), traced.get("value")
    if name.endswith(THAWED):
        title, text, hypothesis = _say_thawed(name.removesuffix(THAWED), lead)
    else:
        title, text, hypothesis = _say_draw(name, lead) if value is None else _say_value(traced, lead)
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


def _say_thawed(layer: str, lead: Outdated) -> tuple[str, str, Hypothesis]:
    return (
        f"{layer} is trainable again, but the compiled step still leaves it frozen",
        (
            f"{layer} was frozen when the step was compiled. `trainable` was set to True at "
            f"{say_step(lead.first_step)} or shortly before; no optimizer has been given any of its weights since."
        ),
        Hypothesis(
            f"`{layer}.trainable` was changed after the step was compiled",
            0.95,
            "What is trained is fixed when a step is compiled: `fit` goes on with the step and the variables that it "
            "had before.",
            "Call `model.compile` again after each change of `trainable`, with a fresh optimizer. In a loop of your "
            "own, make the `tf.function` and its list of variables anew.",
            THAWED_CODE.format(layer=layer),
        ),
    )


def _say_draw(name: str, lead: Outdated) -> tuple[str, str, Hypothesis]:
    evidence = (
        f"{name} is called in a function that TensorFlow runs once, to compile it: the training step, or a function of "
        "the data pipeline. The numbers that it gave then are part of what was compiled: every step since "
        f"{say_step(lead.first_step)} has used the same ones."
    )
    return (
        f"The same random numbers are used all the time: {name} was drawn once, when TensorFlow compiled it",
        evidence,
        Hypothesis(
            "Random numbers of Python or NumPy inside a compiled function",
            0.95,
            "What is compiled runs TensorFlow's operations and no Python, so that NumPy and `random` draw in it only "
            "once. Noise, negatives, masks or choices that should vary stay as they are.",
            "Draw it with `tf.random` in the function; or draw it outside, and hand it over as an argument that is a "
            "tensor (a NumPy array too, but no Python number, which would have the step compiled anew each time).",
            DRAW_CODE.format(drawn=_in_tensorflow(name)),
        ),
    )


def _in_tensorflow(name: str) -> str:
    called = name.partition("(")[0].rpartition(".")[2]
    return next((code for part, code in DRAW_CODES.items() if part in called), "tf.random.uniform(shape)")


def _say_value(traced: Mapping[str, Any], lead: Outdated) -> tuple[str, str, Hypothesis]:
    name, was, changed_at = str(traced["name"]), say_number(float(traced["value"])), traced.get("changed_at")
    by = f", by `{changed_at['code']}`{say_line(changed_at)}" if changed_at else ""
    evidence = (
        f"{name} was {was} when TensorFlow compiled the step that reads it. It was changed at "
        f"{say_step(lead.first_step)} or shortly before{by}; the compiled step still computes with {was}."
    )
    return (
        f"The step goes on with {name} = {was}: it was changed after the step was compiled",
        evidence,
        Hypothesis(
            f"{name} is a Python number, and the compiled step read it once",
            0.95,
            "A compiled step runs TensorFlow's operations and no Python. A number that it takes from an attribute or a "
            "global is part of it: what a loop or a callback makes of the number later does not reach it.",
            f"Make {name} a `tf.Variable` that is not trained, and `assign` to it wherever it is changed; in a loop of "
            "your own it can be an argument of the function, as a tensor.",
            VALUE_CODE.format(name=name, value=was),
        ),
    )
