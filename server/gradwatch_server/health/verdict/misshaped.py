"""Words for slips of shape: a column that meets a vector, axes that a reshape exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.advice_stall import advise_crossing
from gradwatch_server.health.verdict.operation import say_source
from gradwatch_server.health.verdict.scene import Scene, tell

__all__ = ["tell_misshaped"]

TURN_CODE: Final = """\
x = tf.transpose(x, {axes})                      # axes change places, numbers stay with their row and column
x = tf.keras.layers.Permute({places})(x)         # the same as a Keras layer, which does not count the batch
# numpy: x.transpose({axes})"""


def tell_misshaped(lead: Misshaped, scene: Scene) -> Finding:
    """The finding of one slip."""
    title, text, hypothesis = _say_reshape(lead) if lead.is_reshape else _say_crossing(lead)
    return tell(
        lead,
        scene,
        title=title,
        layer=lead.slip.get("layer") or None,
        source=dict(lead.slip["source"]) if lead.slip.get("source") else None,
        evidence=scene.evidence(text),
        hypotheses=[hypothesis],
        subject=str(lead.slip["name"]),
    )


def _say_crossing(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip["source"]
    return (
        f"A column and a vector make a table of all pairs on the way to the loss ({say_source(source)})",
        (
            f"In the compiled step `{source['code']}` is given one tensor of shape [n, 1] and one of shape [n], and "
            "makes [n, n] of them. Neither was given an axis there, as one does to compare all pairs, and more than "
            "the mean of the table goes into the loss."
        ),
        advise_crossing(lead.slip),
    )


def _say_reshape(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    before, after = lead.slip["input_shape"], lead.slip["output_shape"]
    place = f" ({say_source(lead.slip['source'])})" if lead.slip.get("source") else ""
    by = f"A reshape in {lead.slip['layer']}{place}" if lead.slip.get("layer") else f"A reshape{place}"
    return (
        f"{by} makes {_say(after)} of {_say(before)}: that exchanges no axes",
        (
            f"{by} is given {_say(before)} and makes {_say(after)} of it: the same lengths in another order. A reshape "
            "reads the numbers row by row and cuts them anew: each new row holds pieces of several old ones."
        ),
        Hypothesis(
            f"A reshape where axes should change places{place}",
            0.9,
            f"What stood in one column of {_say(before)} is scattered over rows and columns of {_say(after)}: which "
            "number belongs to which time, place or channel is lost for everything that comes after it.",
            "Transpose instead. If the numbers are meant to be cut anew, nothing is wrong here.",
            TURN_CODE.format(axes=_axes(before, after), places=_axes(before, after)[1:]),
        ),
    )


def _say(shape: Sequence[int]) -> str:
    return f"[{', '.join('n' if length == -1 else str(length) for length in shape)}]"


def _axes(before: Sequence[int], after: Sequence[int]) -> tuple[Any, ...]:
    """The order of axes that gives the new shape; with other axes of length 1, as many as there were."""
    left = list(enumerate(before))[1:]
    axes = [0]
    for length in after[1:]:
        axes += [place for place, known in left if known == length and place not in axes][:1]
    return tuple(axes + [place for place, _ in left if place not in axes])
