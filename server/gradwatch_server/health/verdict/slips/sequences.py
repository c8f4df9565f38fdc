"""Words for slips of sequences: cut states, lost order, times to come, batches that never change."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.leaked import MASK_CODE
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.slips.line import Words

__all__ = ["SEQUENCES"]

CUT_CODE: Final = """\
output, state = cell(piece, initial_state=state)      # without tf.stop_gradient(state)"""
BATCH_CODE: Final = """\
rng = np.random.default_rng((self.seed, self.epoch, index))     # in `__getitem__`: another one for each batch
# or, of arrays:
rows = slice(index * batch_size, (index + 1) * batch_size)"""
OFFSET_CODE: Final = """\
offsets = np.cumsum(sizes) - sizes                    # the nodes before each graph, not up to its end"""
UNSHIFTED_CODE: Final = """\
offset = 0
for graph in graphs:
    edges.append(graph.edges + offset)                # all node numbers: both ends of each edge
    offset += len(graph.nodes)"""
BACKWARDS_CODE: Final = """\
# Bidirectional reverses the backward output again and joins both (GRU: your own layer):
h = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(units, return_sequences=True))(h)
# Or by hand, before the two are joined; time is the second axis:
backward = tf.keras.ops.flip(backward, axis=1)"""
PEEKING_WORDS: Final = {
    "Conv2D": ("a convolution that is padded on both sides", 'Use `padding="causal"` in the convolutions.'),
    "ReverseV2": ("a layer that reads the sequence from its end", "Leave out `Bidirectional` and `go_backwards`."),
    "Softmax": ("an attention without a causal mask", "Give the attention a causal mask: `use_causal_mask=True`."),
}


def _say_cut(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source, layer = lead.slip["source"], lead.slip["layer"]
    return (
        f"The gradient of a recurrence is cut at each call{say_line(source)}",
        (
            f"`{source['code']}` lies between calls of {layer} in one step: the output of {layer} goes to its next "
            "call without a gradient."
        ),
        Hypothesis(
            f"A stop_gradient on the state of {layer}{say_line(source)}",
            0.9,
            "The loss trains only the last call: nothing that must be remembered from an earlier call gets a gradient.",
            "Keep the gradient of the state within a step. Cut it only for states that are carried from one step to "
            "the next.",
            CUT_CODE,
        ),
    )


def _say_backwards(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    who = lead.slip["layer"] or f"A layer{say_line(lead.slip.get('source'))}"
    return (
        f"{who} reads the sequence backwards, and is joined step by step with a sequence in the usual order",
        (
            f"In the compiled step, {who} reads the sequence from its end, and its output begins with the last step. "
            "Nothing reverses this output before it is joined with a sequence in the usual order."
        ),
        Hypothesis(
            "A sequence that was read backwards is not turned round again",
            0.9,
            "What was read from the end up to a step belongs to that step, but is at the opposite end. Only in the "
            "middle do both halves describe the same step.",
            "Wrap the layer in `Bidirectional`, or reverse its output along the time axis before the two are joined.",
            BACKWARDS_CODE,
        ),
    )


def _say_same_batch(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n = int(lead.slip["batches"])
    place = say_line(lead.slip.get("source"))
    return (
        f"Every step gets the same batch: the {n:,} batches of an epoch are all one{place}",
        (
            "In all steps looked at, wherever in an epoch, inputs and targets had exactly the mean, deviation and "
            f"range that they had at the first of them. `fit` takes {n:,} batches for an epoch."
        ),
        Hypothesis(
            "What makes a batch begins anew at each: with the same seed, or at the same rows",
            0.85,
            "The few samples of one batch are learned by heart, and nothing else is ever seen: the loss falls, and on "
            "other data nothing is gained.",
            "Make the random generator once, outside what makes a batch, or seed it with the batch's number too. Take "
            "the rows by that number. Where one batch was meant, as a test, there is nothing to do.",
            BATCH_CODE,
        ),
    )


def _say_unshifted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    used = f" They are used{place}." if place else ""
    if lead.n_first:
        return (
            "No edge of a batch touches its first graph: the edges lie one graph too far",
            (
                f"The first nodes of each batch, about {lead.n_first} of {lead.n_nodes}, have no edges; those of the "
                f"last graph land beyond it.{used} What is wrong is where graphs are joined into a batch."
            ),
            Hypothesis(
                "Each graph's node ids are shifted by one graph too many",
                0.9,
                "A cumulative sum of the sizes gives where each graph ends. It begins where the graph before ends.",
                "Where the batch is put together, shift each graph's edges by the number of nodes before it.",
                OFFSET_CODE,
            ),
        )
    return (
        f"The edges of a batch use {lead.n_reached} of its {lead.n_nodes} nodes: each graph numbers its own from 0",
        (
            f"Each batch joins several graphs into one of at least {lead.n_nodes} nodes. No node number in its edges "
            f"is above {lead.n_reached - 1}.{used}"
        ),
        Hypothesis(
            "The node numbers in the edges are not shifted by the nodes of the graphs before",
            0.9,
            "Each graph numbers its nodes from 0. Joined into one, the numbers of the second graph must continue where "
            "the first ends. As they are, all messages go to the nodes of the first graphs, and the others get none.",
            "Where the batch is put together, add to each graph's edges the number of nodes before it.",
            UNSHIFTED_CODE,
        ),
    )


def _say_peeking(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    what, fix = PEEKING_WORDS.get(lead.slip["peeks"], PEEKING_WORDS["Softmax"])
    place = say_line(lead.slip.get("source"))
    of_layer = f" ({lead.slip['layer']})" if lead.slip["layer"] else ""
    return (
        f"The model sees what it is to predict: each time's target is the next value of its own input{place}",
        (
            "Input and target are cut from one sequence, the target one step later, and the loss compares them with "
            f"the output time by time. On the way, {what}{of_layer} lets each time see the ones after it."
        ),
        Hypothesis(
            f"The model looks at the times to come, through {what}{of_layer}",
            0.9,
            "The loss falls because the model learns to hand the next value on. It learns little that helps where that "
            "is not known yet: at the last time, which is the only one that forecasts.",
            f"{fix} Or let the model give the last time alone. Then judge it by values that it has not been given.",
            MASK_CODE,
        ),
    )


SEQUENCES: Final[Words] = {
    SlipKind.BACKWARDS: _say_backwards,
    SlipKind.SAME_BATCH: _say_same_batch,
    SlipKind.PEEKING: _say_peeking,
    SlipKind.UNSHIFTED: _say_unshifted,
    SlipKind.CUT: _say_cut,
}
"""What each tells: a title, what was seen, and the cause."""
