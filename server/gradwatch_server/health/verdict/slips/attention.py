"""Words for slips of an attention: masks, heads, axes of its softmax, places of its words."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.advice_zero import advise_mask
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.slips.line import Words, say_line_or_layer

__all__ = ["ATTENTION"]

SPLIT_CODE: Final = """\
x = tf.reshape(x, (-1, n_steps, {heads}, depth))           # split the features: the last axis,
x = tf.transpose(x, (0, 2, 1, 3))                     # then move the heads: (batch, {heads}, n_steps, depth)"""
JOIN_CODE: Final = """\
x = tf.transpose(x, (0, 2, 1, 3))                     # (batch, n_steps, {heads}, depth),
x = tf.reshape(x, (-1, n_steps, {heads} * depth))          # then put the features together"""
BY_SAMPLE_CODE: Final = """\
x + table[None, : tf.shape(x)[1]]                     # table: [longest, width], x: [batch, {n}, width]
# or x + embedding(tf.range(tf.shape(x)[1]))"""
UNORDERED_CODE: Final = """\
class AddPositions(keras.layers.Layer):
    def build(self, shape):                      # [batch, {n}, width]
        self.table = self.add_weight(shape=(1, *shape[1:]), initializer="uniform", name="table")

    def call(self, embedded):
        return embedded + self.table

# h: the output of the token embedding
h = AddPositions()(h)"""
MISWEIGHED_CODE: Final = """\
weights = tf.nn.softmax(scores, axis=-1)    # scores: [..., queries, keys]"""
MISWEIGHED_BATCH_CODE: Final = """\
weights = tf.nn.softmax(scores, axis=1)     # scores: [batch, time, ...]"""
ITSELF_CODE: Final = """\
  shortcut = x
  x = block(x)                                          # the layers that the shortcut goes around
- x = tf.keras.layers.{kind}([x, x])
+ x = tf.keras.layers.{kind}([x, shortcut])"""
AHEAD_CODE: Final = """\
seen = tf.linalg.band_part(tf.ones((n_steps, n_steps)), -1, 0)     # 1: may be seen. Not 1 - seen
x = attention(x, x, attention_mask=seen[None])        # or: attention(x, x, use_causal_mask=True)
scores += (1.0 - seen) * -1e9                         # for scores of your own"""


def _say_mask(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip.get("source")
    place = say_line(source)
    code = f"`{source['code']}`" if source else "A comparison with 0"
    return (
        f"The attention sees the padding alone: its mask is inverted{place}",
        (
            f"{code} is true where a value is 0, as padding is. The attention's softmax gets only the scores of these "
            "positions; all others are ignored."
            if lead.slip["type"] == "Equal"
            else f"{code} is true where a value is not 0. Exactly these positions are hidden from the attention's "
            "softmax. Only positions that are 0, as padding is, are left."
        ),
        advise_mask(lead.slip),
    )


def _say_heads(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n_heads = say_line(lead.slip.get("source")), lead.slip["heads"]
    is_split = bool(lead.slip["splits"])
    done = "split into heads" if is_split else "put together from heads"
    return (
        f"The features are {done} by a reshape without a transpose{place}",
        (
            f"A reshape {'puts an axis of' if is_split else 'removes the axis of'} {n_heads} heads before the axis of "
            "the steps. It keeps the numbers in their order, and moves none of them."
        ),
        Hypothesis(
            f"The {n_heads} heads hold slices of the sequence, not slices of the features{place}",
            0.95,
            "Each head gets all features of a few steps, cut into pieces and counted as steps of their own."
            if is_split
            else "Each step's vector is put together from outputs of one head at several steps.",
            "Split the last axis alone, then move the axis of heads with a transpose."
            if is_split
            else "Transpose first, then put the last two axes together.",
            (SPLIT_CODE if is_split else JOIN_CODE).format(heads=n_heads),
        ),
    )


def _say_ahead(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"The attention sees only later positions: its causal mask is inverted{place}",
        (
            "At each position the mask hides that position and all earlier ones, and shows the later ones. The last "
            "position sees nothing."
        ),
        Hypothesis(
            f"The causal mask is the wrong way round{place}",
            0.95,
            "A Keras `attention_mask` is true where attention is allowed; a mask that is multiplied by -1e9 and added "
            "is 1 where it is not. Inverted, a model of the next token reads it off the input: the loss falls, but "
            "nothing can be generated.",
            "Allow the lower triangle with its diagonal: each position sees itself and what came before.",
            AHEAD_CODE,
        ),
    )


def _say_itself(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, kind, place = lead.slip["layer"], lead.slip["itself"], say_line(lead.slip.get("source"))
    what = {
        "add": "Twice that tensor comes out",
        "subtract": "Nothing but zeros come out",
        "concatenate": "The same features come out twice",
    }.get(kind, "That tensor comes out as it was")
    return (
        f"{layer or f'`{kind}`'} gets the same tensor twice: the other one, such as a skip connection, is lost{place}",
        f"In the training step both inputs of {layer or f'`{kind}`'} are one tensor. {what}.",
        Hypothesis(
            f"`{kind}` is given one tensor in place of two{place}",
            0.95,
            "A skip connection joins what entered a block with what the block made. Here a name stands twice, or was "
            "assigned anew before it was used, and nothing skips the block.",
            "Give it the tensor that is to skip the block, under a name of its own.",
            ITSELF_CODE.format(kind=kind),
        ),
    )


def _say_by_sample(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, n = lead.slip["layer"], lead.slip["by_sample"]
    place = say_line_or_layer(lead, layer)
    return (
        f"The table of positions is added along the samples, not along their {n} positions{place}",
        (
            f"A table is cut to as many rows as the batch has samples, and added to [batch, {n}, width] as "
            "[batch, 1, width]. So each sample gets one row for all its positions: that of its place in the batch."
        ),
        Hypothesis(
            f"The positions are taken from axis 0, which is the batch, instead of axis 1{place}",
            0.93,
            "All positions of a sample get the same numbers, so the model cannot tell their order, and a sample gets "
            "others each time. Code of models whose first axis is the time looks like this.",
            "Cut the table by the length of axis 1, and let it broadcast over the batch.",
            BY_SAMPLE_CODE.format(n=n),
        ),
    )


def _say_unordered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, n = lead.slip["layer"] or "the embedding", lead.slip["n_places"]
    return (
        f"The attention cannot see the order of its {n} tokens: the model has no position information",
        (
            f"The output of {layer} feeds an attention. Nothing between it and the model's output depends on the "
            "position: no position embedding, no causal mask, no convolution or recurrence, no per-position weights."
        ),
        Hypothesis(
            "The model has no position embedding",
            0.6,
            "Without positions an attention treats its tokens as a set: the same tokens in another order give the same "
            "output. If the answer depends on the order, the model cannot learn it.",
            "Add an embedding of the positions to the output of the token embedding, once, before the first attention. "
            "Ignore this if the order does not matter for your task.",
            UNORDERED_CODE.format(n=n),
        ),
    )


def _say_misweighed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    of_batch = lead.slip["along"] == "batch"
    over = "the batch" if of_batch else "the queries instead of the keys"
    return (
        f"The softmax of an attention runs over {over}{place}",
        (
            "The weighted sum that follows runs over another axis, and along that axis the weights do not add up to 1."
            if of_batch
            else "The weighted sum that follows runs over the keys, but the weights of one query over the keys do not "
            "add up to 1: the softmax was taken along the other axis of the scores."
        ),
        Hypothesis(
            f"The softmax of an attention runs over the wrong axis{place}",
            0.9,
            (
                "Each sample's weights depend on the other samples of the batch. "
                if of_batch
                else "Each query should split its attention among the keys. Here each key is split among the queries. "
                "If the mean over the queries is taken afterwards, the attention cancels out. "
            )
            + "The output is not a weighted average of the values, and a mask may hide the wrong positions.",
            "Take the softmax along the axis that is summed over afterwards."
            if of_batch
            else "Take the softmax over the keys: the last axis if the scores are [..., queries, keys]. If the scores "
            "are [..., keys, queries], swap the two where they are computed.",
            MISWEIGHED_BATCH_CODE if of_batch else MISWEIGHED_CODE,
        ),
    )


ATTENTION: Final[Words] = {
    SlipKind.AHEAD: _say_ahead,
    SlipKind.ITSELF: _say_itself,
    SlipKind.HEADS: _say_heads,
    SlipKind.BY_SAMPLE: _say_by_sample,
    SlipKind.UNORDERED: _say_unordered,
    SlipKind.MISWEIGHED: _say_misweighed,
    SlipKind.MASK: _say_mask,
}
"""What each tells: a title, what was seen, and the cause."""
