"""Words for slips of shapes: columns that meet vectors, exchanged axes, sums over the wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.advice_stall import advise_crossing, say_crossing
from gradwatch_server.health.verdict.operation import say_line, say_source
from gradwatch_server.health.verdict.slips.line import Words, say_line_or_layer
from gradwatch_server.health.verdict.slips.order import order_of_axes

__all__ = ["SHAPES"]

TURN_CODE: Final = "x = tf.transpose(x, {axes})                      # permutes the axes"
FOLD_CODE: Final = """\
x = tf.transpose(x, {axes})                       # the axis stands next to the batch's,
x = tf.reshape(x, (-1, *{shape}))                      # and becomes part of it"""
UNFOLD_CODE: Final = """\
x = tf.reshape(x, (-1, {n}, {shape}))                    # out of the batch's, next to it,
x = tf.transpose(x, {axes})                       # and then to its place"""
LAYER_CODE: Final = "tf.keras.layers.Permute({places})                # instead of Reshape({after}); axes count from 1"
REPEATED_CODE: Final = """\
heads = [tf.keras.layers.Dense(1, name=f"head_{{number}}") for number in range({n})]   # not [Dense(1)] * {n}
outputs = [head(h) for head in heads]"""
OVER_BATCH_CODE: Final = """\
log_probability = tf.nn.log_softmax(scores, axis=-1)  # the axis of the classes"""
ROUNDED_CODE: Final = """\
mean = tf.reduce_mean(x, axis=1, keepdims=True)
variance = tf.reduce_mean(tf.square(x - mean), axis=1, keepdims=True)
# or tf.math.reduce_variance(x, axis=1, keepdims=True)"""
TRUNCATED_CODE: Final = """\
measured = table[:, 2:]                            # without the ids, here columns 0 and 1
table[:, 2:] = (measured - measured.mean(axis=0)) / measured.std(axis=0)"""
CROSSWISE_CODE: Final = """\
layers.Softmax(axis=-1)                               # the axis of the classes; or tf.nn.softmax(scores, axis=-1)"""
GATHERED_CODE: Final = """\
taken = tf.gather(values, places, axis=1, batch_dims=1)        # [n]: each sample's own"""
NORMED_CODE: Final = """\
tf.math.l2_normalize(x, axis=-1)            # or tf.norm(x, axis=-1, keepdims=True)"""
DOTTED_CODE: Final = """\
tf.reduce_sum(a * b, axis=-1, keepdims=True)        # a, b: [n, k]; gives [n, 1]"""
ACROSS_CODE: Final = """\
tf.keras.layers.BatchNormalization()                  # axis=-1: one mean and one deviation for each channel"""
TIMED_CODE: Final = """\
h = layers.LSTM(units)(h)                             # the last one without return_sequences=True
# or: h = layers.GlobalAveragePooling1D()(h)
output = layers.Dense(1)(h)                           # [n, 1]"""
TILED_CODE: Final = """\
repeated = tf.repeat(per_sample, {n}, axis=0)         # each sample beside its own items"""


def _say_crossing(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip["source"]
    column, vector, table = say_crossing(lead.slip)
    if lead.slip.get("square"):
        return (
            f"Two tables of pairs meet with one axis too many on the way to the loss{say_line(source)}",
            (
                f"In the compiled step, `{source['code']}` combines a tensor of shape {column} with one of shape "
                f"{vector}. The result has shape {table}: each pair meets other pairs."
            ),
            advise_crossing(lead.slip),
        )
    return (
        f"A column and a vector make a table of all pairs on the way to the loss{say_line(source)}",
        (
            f"In the compiled step, `{source['code']}` combines a tensor of shape {column}, such as a layer's output, "
            f"with one of shape {vector}, such as targets. The result has shape {table}. Nothing in the step asks for "
            "a comparison of all pairs."
        ),
        advise_crossing(lead.slip),
    )


def _say_reshape(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    before, after = lead.slip["input_shape"], lead.slip["output_shape"]
    is_layer = not lead.slip.get("source")
    place = say_line(lead.slip.get("source"))
    by = "A Reshape layer" if is_layer else f"A reshape{place}"
    if len(before) != len(after):
        return _say_fold(before, after, by, place)
    return (
        f"{by} makes {_say(after)} of {_say(before)}: that exchanges no axes",
        (
            f"{by} turns {_say(before)} into {_say(after)}: the same lengths in another order. A reshape reads the "
            "numbers row by row and splits them into new rows; it does not transpose."
        ),
        Hypothesis(
            f"A reshape where axes should change places{place}",
            0.9,
            f"An axis of {_say(after)} mixes two axes of {_say(before)}: it separates numbers of the same time, place "
            "or channel.",
            "Transpose instead, unless the numbers are meant to be regrouped.",
            (LAYER_CODE if is_layer else TURN_CODE).format(
                axes=order_of_axes(before, after), places=order_of_axes(before, after)[1:], after=tuple(after[1:])
            ),
        ),
    )


def _say_fold(before: Sequence[int], after: Sequence[int], by: str, place: str) -> tuple[str, str, Hypothesis]:
    """Of an axis that becomes part of the batch's, or comes out of it, across another one."""
    is_in = len(before) > len(after)
    few, many = sorted((before[1:], after[1:]), key=len)
    moved = next(place for place in range(len(many)) if [*many[:place], *many[place + 1 :]] == [*few])
    front = [0, moved + 1, *(axis for axis in range(1, len(many) + 1) if axis != moved + 1)]
    back = [front.index(axis) for axis in range(len(front))]
    way = "into the batch's" if is_in else "out of the batch's"
    return (
        f"{by} makes {_say(after)} of {_say(before)}: that mixes axes",
        (
            f"{by} takes the axis of {many[moved]} {way}, past the axis of {many[0]} in front of it. A reshape keeps "
            "the numbers in their order and moves none of them, so these two axes are mixed."
        ),
        Hypothesis(
            f"A transpose is missing {'before' if is_in else 'after'} the reshape{place}",
            0.92,
            f"Each row of the result holds numbers of different entries of the axis of {many[moved]}, as if they were "
            f"one series along the axis of {many[0]}.",
            f"Move the axis of {many[moved]} next to the batch's {'first' if is_in else 'last'}, with a transpose.",
            FOLD_CODE.format(axes=tuple(front), shape=tuple(few))
            if is_in
            else UNFOLD_CODE.format(axes=tuple(back), n=many[moved], shape=", ".join(map(str, few))),
        ),
    )


def _say_repeated(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, n = lead.slip["layer"], int(lead.slip["n"])
    return (
        f"{layer} is called {n} times on the same tensor: these outputs are all the same",
        (
            f"In the compiled step, the {n} calls of {layer} use the same tensor and the same weights. Their outputs "
            "are the same, whatever the target of each is."
        ),
        Hypothesis(
            f"The same layer, {layer}, is used in {n} places",
            0.95,
            "A multiplied list, `[layer] * n`, holds one layer n times. Using a name again does the same. One set of "
            "weights can give only one answer, which ends up between the targets.",
            "Create one layer per output.",
            REPEATED_CODE.format(n=n),
        ),
    )


def _say_gathered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    source = lead.slip["source"]
    place = say_source(source)
    return (
        f"A gather takes the columns of all samples from each: [n, n] meets [n] on the way to the loss ({place})",
        (
            f"`{source['code']}` returns a table: row i holds the values of sample i in the columns of all samples. It "
            "is combined with one number per sample, and the loss is a mean over all pairs."
        ),
        Hypothesis(
            f"`batch_dims` is missing in a gather ({place})",
            0.9,
            "Each sample is also compared with the targets of all others. The best fit is then the same for all: the "
            "mean of the targets.",
            "Take only each sample's own column.",
            GATHERED_CODE,
        ),
    )


def _say_over_batch(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n = say_line(lead.slip.get("source")), int(lead.slip["over_batch"])
    return (
        f"The softmax of the loss runs over the batch, not over the {n:,} classes{place}",
        (
            f"The scores have the shape (batch, {n:,}). The softmax adds up to 1 along their first axis, and labels "
            "pick from its logarithm."
        ),
        Hypothesis(
            f"The probabilities of a sample do not add up to 1: those of a class do, over the batch{place}",
            0.95,
            "Samples compete for each class, and classes do not compete for a sample. What a sample's probabilities "
            "are depends on which others are in its batch.",
            "Leave `axis` out of the softmax, or set it to -1.",
            OVER_BATCH_CODE,
        ),
    )


def _say_across(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, layer, place = int(lead.slip["n"]), lead.slip["layer"], say_line(lead.slip["source"])
    what = "row" if lead.slip["across"] == 1 else "column"
    others = "" if n == 1 else f" and {n - 1:,} more"
    return (
        f"{layer}{others} {'normalises' if n == 1 else 'normalise'} each {what} of the maps, not each channel{place}",
        (
            f"The convolution before {layer} gives [batch, height, width, channels]. Its `axis={lead.slip['across']}` "
            f"is the {'height' if what == 'row' else 'width'}."
        ),
        Hypothesis(
            f"The axis of the batch normalisation is not that of the channels{place}",
            0.93,
            "`axis=1` is for channels that come first. As it is, all channels share one scale, which may leave some "
            f"with next to nothing, and each {what} of the image gets a scale and an offset of its own.",
            "Leave `axis` at its default, the last axis.",
            ACROSS_CODE,
            (Change("layer", str(layer), without=("axis",)),),
        ),
    )


def _say_timed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    n, layer = int(lead.slip["times"]), lead.slip["layer"]
    place, times = say_line(lead.slip.get("source")), f"each of {n:,} time steps" if n > 0 else "each time step"
    return (
        f"{layer} predicts a number for {times}, but a sample has one target{place}",
        (
            f"{layer} gives [n, {n if n > 0 else 'time'}, 1], the target is one number per sample. The loss broadcasts "
            "the two without a word, so each time step is compared with a target."
        ),
        Hypothesis(
            f"Nothing makes one output of all time steps: `return_sequences=True`, or no pooling{place}",
            0.9,
            "Every step, the first one too, has to predict what only the whole sequence tells, and most of the loss "
            "comes from steps that cannot know it. With targets of shape [n] they even meet those of other "
            "samples. `predict` gives a sequence where one number is expected.",
            f"Let a recurrent layer before {layer} give its last step alone, or take the mean of the steps. If each "
            "has a target of its own, give targets of shape [n, time, 1].",
            TIMED_CODE,
        ),
    )


def _say_tiled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n = say_line(lead.slip.get("source")), int(lead.slip["tiled"])
    return (
        f"A tile lays each sample beside the items of other samples{place}",
        (
            f"`tf.tile` repeats the whole list of samples {n:,} times: a, b, c, a, b, c. The reshape that it is joined "
            f"with lists all {n:,} items of the first sample first, then those of the second."
        ),
        Hypothesis(
            f"`tf.tile` where `tf.repeat` is meant{place}",
            0.95,
            "Only where both orders happen to agree does a sample meet its own items. For all others the step learns "
            "from pairs that do not exist.",
            "Repeat each sample as many times as it has items: a, a, b, b.",
            TILED_CODE.format(n=n),
        ),
    )


def _say_rounded(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A variance is the difference of two large numbers, and nothing but rounding is left of it{place}",
        (
            "It is computed as the mean of the squares less the square of the mean. In most places the two agree in "
            "all the digits that float32 has, so that their difference says nothing."
        ),
        Hypothesis(
            f"The variance is computed as mean(x²) - mean(x)², of numbers far from 0{place}",
            0.92,
            "float32 holds seven digits. Where the mean is a thousand times the deviation or more, the squares agree "
            "in the first six and more, and what is left is rounding: 0, far too large, or below 0.",
            "Subtract the mean before you square, as `tf.math.reduce_variance` and `tf.nn.moments` do.",
            ROUNDED_CODE,
        ),
    )


def _say_truncated(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, rows = lead.slip["layer"], lead.slip["rows"]
    place = say_line_or_layer(lead, layer)
    return (
        f"Ids are cut to whole numbers after they were scaled: nearly all become 0{place}",
        (
            f"Ids that tell {rows} rows apart are made of floating-point numbers. In each batch checked most of these "
            "had a fraction, and all were above -2 and below 2: without the fraction nothing but -1, 0 and 1 is left."
        ),
        Hypothesis(
            f"The ids were scaled together with the measured columns{place}",
            0.93,
            "A scaler brings every column to between 0 and 1, or to a deviation of 1. The cast to whole numbers cuts "
            "that off, so that nearly all ids read the same row, and what belongs to each id cannot be learned.",
            "Scale the measured columns only, and leave the ids the whole numbers they were.",
            TRUNCATED_CODE,
        ),
    )


def _say_crosswise(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    axis, shape = lead.slip["axis"], lead.slip["crosswise"]
    scope = str(lead.slip["name"]).rpartition("/")[0]  # a layer without weights is known by it alone
    place = say_line_or_layer(lead, scope)
    form = ", ".join(["n", *("?" if length < 0 else str(length) for length in shape[1:])])
    bypassed = (
        " Keras takes the loss of the scores before this softmax, so that the loss falls and the outputs do not follow."
        if lead.slip.get("bypassed")
        else ""
    )
    over = "the samples of the batch" if axis == 0 else f"axis {axis}"
    return (
        f"The softmax of the outputs runs over {over}, not over the classes{place}",
        (
            f"The outputs have the shape [{form}], and the cross-entropy takes the last axis for the classes. The "
            f"softmax makes them add up to 1 along axis {axis}."
        ),
        Hypothesis(
            f"The softmax is taken along axis {axis}, not along the last one{place}",
            0.92,
            "The probabilities of each class add up to 1 along that axis. So no class can be likely in all its places, "
            "and one that is nowhere cannot be unlikely in all of them." + bypassed,
            "Take the softmax along the last axis, that of the classes.",
            CROSSWISE_CODE,
        ),
    )


def _say_normed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    is_all = lead.slip["squares"] == "all"
    of = "the whole batch" if is_all else "each feature over the batch,"
    return (
        f"A norm is computed over {of} instead of per sample{place}",
        (
            "The squares of all samples of a batch go into one sum, and its square root is used for every sample."
            if is_all
            else "The squares of each feature are summed over the samples of the batch. The samples' vectors are "
            "divided by the square roots, and then multiplied with each other."
        ),
        Hypothesis(
            f"The axis of a norm is {'missing' if is_all else 'the batch'}{place}",
            0.9,
            "Without an axis, `tf.norm` and `tf.math.l2_normalize` treat the whole batch as a single vector. A vector "
            "that is normalised so in a batch of n samples has a length of about 1 / sqrt(n), not 1, and the samples "
            "still have different lengths."
            if is_all
            else "The samples' vectors do not get length 1, and each depends on the other samples in the batch.",
            "Give the norm `axis=-1`, wherever this line takes one.",
            NORMED_CODE,
        ),
    )


def _say_dotted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip.get("source"))
    return (
        f"A dot product is summed over the whole batch instead of per sample{place}",
        (
            "The products of two tensors are summed over all samples of the batch, and the one number that this gives "
            "is used for each sample."
        ),
        Hypothesis(
            f"The dot product is taken along the batch too{place}",
            0.95,
            "`tf.tensordot(a, b, 2)` sums over both axes of `[n, k]`, as does a sum without `axis`. What the two "
            "vectors of a sample say about that sample is lost: all predictions of a batch get the same number, and "
            "it depends on which samples happen to be in the batch.",
            "Multiply the vectors of each sample, and sum over the last axis only.",
            DOTTED_CODE,
        ),
    )


def _say(shape: Sequence[int]) -> str:
    return f"[{', '.join('n' if length == -1 else str(length) for length in shape)}]"


SHAPES: Final[Words] = {
    SlipKind.CROSSING: _say_crossing,
    SlipKind.RESHAPE: _say_reshape,
    SlipKind.REPEATED: _say_repeated,
    SlipKind.GATHERED: _say_gathered,
    SlipKind.ACROSS: _say_across,
    SlipKind.TIMED: _say_timed,
    SlipKind.TILED: _say_tiled,
    SlipKind.NORMED: _say_normed,
    SlipKind.DOTTED: _say_dotted,
    SlipKind.OVER_BATCH: _say_over_batch,
    SlipKind.ROUNDED: _say_rounded,
    SlipKind.TRUNCATED: _say_truncated,
    SlipKind.CROSSWISE: _say_crosswise,
}
"""What each tells: a title, what was seen, and the cause."""
