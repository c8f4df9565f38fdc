"""Words for what a script makes and never uses: changed data, outputs of layers, terms of a loss, turns of a loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import say_change
from gradwatch_server.health.verdict.slips.line import Words, line_of

__all__ = ["UNUSED"]

RESULT_CODE: Final = """\
{name} = {name}.map(change)                           # what comes back is the changed one"""
TENSOR_CODE: Final = """\
x = next_layer({name})                                # of a layer's output: the next layer reads it
loss = loss + weight * {name}                         # of a term: the loss has it"""
OVERWRITTEN_CODE: Final = """\
{name} = first(inputs)
{name} = second({name})                                   # reads what the first layer gave"""
TURNS_CODE: Final = """\
for x, y in data:
    with tf.GradientTape() as tape:
        loss = loss_of(model(x, training=True), y)
    {name} = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip({name}, model.trainable_variables))     # in each turn
# or, for one step per n turns, begin with zeros, and add in each turn:
total = [tf.zeros_like(one) for one in model.trainable_variables]
total = [a + b / n for a, b in zip(total, {name})]"""

UNTAPED_CODE: Final = """\
with tf.GradientTape() as {tape}:
    ...
    {code}                                # within the block, as deep as the first line in it"""
LATE_CODE: Final = """\
functions = [lambda x, {name}={name}: change(x, {name}) for {name} in values]     # the value, as it is now"""


def _say_unused(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    """A title, what was seen, and the cause."""
    slip = lead.slip
    say = _WORDS.get(str(slip["unused"]), _say_tensor)
    return say(slip, str(slip["name"]), line_of(lead), say_line(slip.get("source")))


def _say_late(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    """The same of functions that a loop makes."""
    place, name = say_line(lead.slip.get("source")), str(lead.slip["name"])
    code = line_of(lead)
    return (
        f"All functions that a loop makes use its last `{name}`{place}",
        f"`{code}` makes a function in each turn and keeps it. The function reads `{name}`, the loop's variable.",
        Hypothesis(
            f"The functions do not keep the `{name}` of their own turn{place}",
            0.95,
            f"A function looks up `{name}` when it is called, not when it is made. By then the loop is over, and all "
            "see its last value: they are all the same.",
            f"Give the function its own value as a default argument, `{name}={name}`.",
            LATE_CODE.format(name=name),
        ),
    )


def _say_untaped(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    """The same of what is computed where a tape does not see it."""
    slip, place = lead.slip, say_line(lead.slip.get("source"))
    name, tape, made = str(slip["name"]), str(slip["untaped"]), slip.get("made") or {}
    return (
        f"`{tape}` has not seen how `{name}` is computed: its gradient is 0 or None{place}",
        f"`{made.get('code', '')}`{say_line(slip.get('made'))} stands behind the block of `{tape}`, not within it.",
        Hypothesis(
            f"`{name}` is computed outside of the tape that is to differentiate it{place}",
            0.95,
            "A tape follows what is computed within its `with` block and nothing else. Of anything else the gradient "
            'is None, or with `unconnected_gradients="zero"` 0 without a word, so that this term of a loss asks for '
            "nothing.",
            f"Move the line that computes `{name}` into the block of `{tape}`.",
            UNTAPED_CODE.format(tape=tape, code=made.get("code", f"{name} = ...")),
        ),
    )


def _say_aliased(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    """The same of an array with two names."""
    slip, place = lead.slip, say_line(lead.slip.get("source"))
    name, of, written = str(slip["name"]), str(slip["aliased"]), slip.get("written") or {}
    return (
        f"`{name}` is no copy of `{of}`: what changes one changes both{place}",
        (
            f"`{written.get('code', '')}`{say_line(slip.get('written'))} writes into the array in place. `{name}` and "
            f"`{of}` are two names of it, and both are used after that."
        ),
        Hypothesis(
            f"`{name}` and `{of}` are the same array{place}",
            0.95,
            "An assignment copies no numbers. After the change both names have the changed numbers. As inputs and "
            "targets they are the same, and there is nothing to learn.",
            "Make a copy before you change it.",
            say_change(f"{name} = {of}", f"{name} = {of}.copy()"),
        ),
    )


def _say_result(_: Mapping[str, Any], name: str, code: str, place: str) -> tuple[str, str, Hypothesis]:
    return (
        f"A result is thrown away: `{name}` stays as it was{place}",
        f"`{code}` returns the changed `{name}`, and nothing keeps what it returns.",
        Hypothesis(
            f"The changed `{name}` is never used{place}",
            0.95,
            f"The call does not change `{name}` in place. The training goes on with `{name}` as it was before this "
            "line.",
            "Assign the result to the name that the following lines read.",
            say_change(code, f"{name} = {code}") if _is_whole(code) else RESULT_CODE.format(name=name),
        ),
    )


def _say_tensor(_: Mapping[str, Any], name: str, code: str, place: str) -> tuple[str, str, Hypothesis]:
    return (
        f"`{name}` is computed for the training and never read{place}",
        f"No line reads `{name}` after `{code}`. It is part neither of the loss nor of what the model returns.",
        Hypothesis(
            f"`{name}` is not used{place}",
            0.85,
            "What nothing reads has no effect: a layer is left out of the model, or a term out of the loss. Often "
            "another name stands where this one was meant.",
            f"Use `{name}` where it was meant. If it is only left over, delete the line.",
            TENSOR_CODE.format(name=name),
        ),
    )


def _say_overwritten(slip: Mapping[str, Any], name: str, code: str, place: str) -> tuple[str, str, Hypothesis]:
    lost = (slip.get("lost") or {}).get("code", "")
    return (
        f"`{name}`, a layer's output, is overwritten before anything reads it{place}",
        (
            f"`{lost}` gives `{name}` the output of a layer{say_line(slip.get('lost'))}. Before anything reads that, "
            f"`{code}` gives the name to another layer's output."
        ),
        Hypothesis(
            f"A layer is skipped: this line does not read `{name}`{place}",
            0.9,
            "The first layer, and those before it that nothing else reads, are left out of the model. They learn "
            "nothing, and change nothing.",
            f"Give the layer of this line the `{name}` of the line before as its input.",
            OVERWRITTEN_CODE.format(name=name),
        ),
    )


def _say_turns(_: Mapping[str, Any], name: str, code: str, place: str) -> tuple[str, str, Hypothesis]:
    return (
        f"Of the gradients `{name}` that a loop computes, only the last are applied{place}",
        f"The loop computes `{name}` in each turn, and `{code}` gets those of one turn alone. Nothing adds them up.",
        Hypothesis(
            f"The gradients of all other turns are lost{place}",
            0.95,
            "Each turn replaces the gradients of the one before. Most batches are computed in vain, and the model "
            "makes far fewer steps than it seems.",
            "Apply the gradients within the loop, in each turn. To accumulate them, add them up and apply the sum.",
            TURNS_CODE.format(name=name),
        ),
    )


def _say_rebound(_: Mapping[str, Any], name: str, code: str, place: str) -> tuple[str, str, Hypothesis]:
    return (
        f"A new value is given to the name `{name}`, and the variable stays as it was{place}",
        f"`{code}` makes `{name}` the name of another tensor. Nothing reads it before the loop's next turn.",
        Hypothesis(
            f"The variables in the loop are never changed{place}",
            0.95,
            "An assignment to a name changes no variable. A slow copy of a network that is to be moved in this way "
            "stays as it was made.",
            "Call the variable's `assign`.",
            f"{name}.assign(...)                          # the new value",
        ),
    )


def _say_sibling(slip: Mapping[str, Any], name: str, code: str, place: str) -> tuple[str, str, Hypothesis]:
    meant, of = str(slip["meant"]), slip.get("of") or {}
    return (
        f"`{name}` stands where `{meant}` was probably meant{place}",
        (
            f"`{code}` is `{of.get('code', '')}` with one word exchanged in all names but `{name}`. Nothing reads "
            f"`{meant}`."
        ),
        Hypothesis(
            f"A copied line still reads `{name}`{place}",
            0.9,
            f"The result is made of `{name}` again, and `{meant}` has no part in it.",
            f"Write `{meant}` in its place.",
            say_change(code, re.sub(rf"\b{re.escape(name)}\b", meant, code)),
        ),
    )


def _say_reported(slip: Mapping[str, Any], name: str, code: str, place: str) -> tuple[str, str, Hypothesis]:
    of, left = str(slip["of"]) or "loss", str(slip["missing"])
    is_sum = name != left or f"{of} +" in code
    what = f"`{left}` is a part of `{name}`, and `{name}`" if name != left else f"`{left}`"
    return (
        f"`{left}` is left out of the loss: the gradients are those of `{of}` alone{place}",
        (
            f"`{code}` stands under the tape. {what} is no part of what the tape is asked for; nothing but what is "
            "shown is made of it."
        ),
        Hypothesis(
            f"The step differentiates `{of}`, which does not contain `{left}`{place}",
            0.95,
            "A term that is only reported has no effect on the weights: the model is trained as if it were not there.",
            f"Ask the tape for the gradients of `{name}`." if is_sum else f"Add `{left}` to `{of}` under the tape.",
            f"gradients = tape.gradient({name}, model.trainable_variables)"
            if is_sum
            else f"{of} = {of} + {left}           # under the tape",
        ),
    )


def _is_whole(code: str) -> bool:
    """Whether a line is a statement by itself."""
    try:
        return len(ast.parse(code).body) == 1
    except SyntaxError:
        return False


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any], str, str, str], tuple[str, str, Hypothesis]]]] = {
    "result": _say_result,
    "tensor": _say_tensor,
    "overwritten": _say_overwritten,
    "turns": _say_turns,
    "rebound": _say_rebound,
    "sibling": _say_sibling,
    "reported": _say_reported,
}


UNUSED: Final[Words] = {
    SlipKind.UNUSED: _say_unused,
    SlipKind.LATE: _say_late,
    SlipKind.UNTAPED: _say_untaped,
    SlipKind.ALIASED: _say_aliased,
}
"""What each tells: a title, what was seen, and the cause."""
