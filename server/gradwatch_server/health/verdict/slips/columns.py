"""Words for slips of columns: scale, fractions, numbers of words, the only value of a target."""

from __future__ import annotations

import re
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.advice_growth import ADAPT_CODE, SCALED_INPUTS, advise_adapt, is_as_made
from gradwatch_server.health.verdict.advice_stall import advise_column
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import cast_before, with_keyword
from gradwatch_server.health.verdict.slips.line import Words, as_diff, line_of
from gradwatch_server.health.verdict.spelling import list_names, say_number

__all__ = ["COLUMNS"]

SCALED_CODE: Final = """\
normalise = tf.keras.layers.Normalization()           # axis=-1: one mean and one deviation per column
normalise.adapt(x_train)"""
WRAPPED_CODE: Final = """\
difference = second.astype(np.float32) - first.astype(np.float32)"""
IDS_CODE: Final = """\
vectors = tf.keras.layers.Embedding(n_ids, width)(ids)                              # ids as they are
vectors = tf.keras.layers.Dropout(rate, noise_shape=(None, n_times, 1))(vectors)    # drops whole words"""
GIVEN_CODE: Final = """\
scale = keras.layers.Normalization(mean=x.mean(axis=0), variance=x.var(axis=0))      # var, not std"""
OFFSET_CODE: Final = """\
known = np.where(x_train == 9999, np.nan, x_train)      # 9999: your mark for a missing value
x_train = (known - np.nanmean(known, axis=0)) / np.nanstd(known, axis=0)
x_train = np.nan_to_num(x_train)                        # the mean in place of what is missing"""
FLOORED_CODE: Final = """\
y = shares.astype("float32")                  # not "int32": 0.7 would become 0
labels = (shares > 0.5).astype("int32")       # where classes are meant"""
PADDED_CODE: Final = """\
x = keras.utils.pad_sequences(sequences, dtype="float32")              # and what else you give it"""
SCALED_CUT_CODE: Final = """\
images = tf.cast(images, tf.float32) / 255.0
labels = tf.cast(labels, tf.int32)            # class numbers: no division"""
ONLY_CODE: Final = """\
print(np.unique(y, return_counts=True))               # where the labels are made, and after each step behind that"""
ROUNDED_COLUMN_CODE: Final = """\
np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)      # of an hour: one turn in 24
print(x.min(axis=0), x.max(axis=0))                               # of the inputs: does every column vary?"""
UNKNOWN_CODE: Final = """\
vectorize.adapt(train_texts)                          # the texts themselves, before anything is vectorized
print(vectorize.get_vocabulary()[:20])                # words of these texts?
print(vectorize(train_texts[:2]))"""
MEDIAN_CODE: Final = """\
model.compile(optimizer, loss="mse")                        # or, with one output for each part:
model.compile(optimizer, loss={"is_any": "binary_crossentropy", "amount": "mae"})
model.fit(x, {"is_any": y != 0, "amount": y}, sample_weight={"is_any": np.ones(len(y)), "amount": y != 0})"""
PADDING: Final = frozenset({"pad_sequences"})


def _say_scaled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, n = lead.slip["layer"], len(lead.narrow)
    one, places = n == 1, list_names([str(place) for place in lead.narrow])
    return (
        f"{layer} scales all columns of the input by one mean and one deviation",
        (
            f"Column{'' if one else 's'} {places} of the input {'takes' if one else 'take'} less than a thousandth of "
            f"the range of column {lead.widest}. With one scale for all, {'it is' if one else 'they are'} almost "
            "constant, and the effect on a layer is lost beside the other columns."
        ),
        Hypothesis(
            "The inputs are not scaled column by column",
            0.85,
            "`axis=None` is for an input of one number, or of many numbers of one kind. Columns with different units "
            "each need their own mean and standard deviation.",
            "Leave `axis` at its default, the last axis. The call of `adapt` stays as it is.",
            SCALED_CODE,
            (Change("layer", str(layer), without=("axis",)),),
        ),
    )


def _say_unscaled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, one = lead.slip["layer"], len(lead.narrow) == 1
    low, high = map(say_number, lead.reach)
    others = "another" if one else f"{len(lead.narrow):,} others"
    names = list_names([str(place) for place in lead.narrow])
    if lead.is_rounded:
        return (
            f"Column{'' if one else 's'} {names} of the input {'holds' if one else 'hold'} nothing but rounding errors",
            f"Column {lead.narrow[0]} has only held numbers from {low} to {high}: it carries no information.",
            Hypothesis(
                "A feature comes from terms that cancel",
                0.9,
                "Its true value is 0 for every sample. Possible causes: the sine of whole turns, where the period is "
                "missing (its cosine is then 1 throughout); a number minus itself; a division by something far too "
                "large.",
                "Look at the line that makes this column. For a cyclic feature, divide by its period.",
                ROUNDED_COLUMN_CODE,
            ),
        )
    if not lead.narrow:
        mean, deviation = say_number(lead.mean), say_number(lead.deviation)
        return (
            f"The input hardly varies, and {layer} gets it so: its numbers lie about {mean}, give or take {deviation}",
            (
                f"A layer's start supposes inputs with a standard deviation of about 1. What {layer} makes of "
                f"{deviation} is lost beside what it makes of the mean, until its weights have grown many times."
            ),
            Hypothesis(
                "The inputs are scaled by the wrong mean and spread",
                0.85,
                "Scaled columns have the mean 0 and the deviation 1. This happens when marks for missing values (such "
                "as 9999 or -1) or a few outliers are among the numbers whose mean, deviation or largest value is "
                "taken, or when a column is divided by something that belongs to another one.",
                "Leave such values out of the statistics, and look at each scaled column: its mean, its deviation, a "
                "histogram.",
                OFFSET_CODE,
                SCALED_INPUTS,
            ),
        )
    return (
        f"Column {lead.widest} of the input is over 1,000 times as wide as {others}, and {layer} gets them unscaled",
        (
            f"Column {lead.widest} ranges from {low} to {high}, column{'' if one else 's'} {names} over less than a "
            f"thousandth of that. What {layer} makes of {'it' if one else 'them'} is lost beside column {lead.widest}."
        ),
        advise_column(lead.narrow, lead.widest),
    )


def _say_wrapped(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, dtype = say_line(lead.slip["source"]), lead.slip["wraps"]
    most = 2 ** int(dtype.removeprefix("uint")) - 1
    return (
        f"A difference of two {dtype} arrays wraps around: -1 becomes {most:,}{place}",
        f"{dtype} has no numbers below 0. NumPy computes the difference in that type, without a warning.",
        Hypothesis(
            f"The difference is taken before the arrays are cast{place}",
            0.95,
            f"100 - 101 gives {most:,} and not -1: the smallest changes of one sign look like the largest ones of the "
            "other.",
            "Cast to a signed or a floating-point type before subtracting.",
            as_diff(lead, cast_before(line_of(lead), "float32")) or WRAPPED_CODE,
        ),
    )


def _say_median(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, value = say_line(lead.slip["source"]), say_number(float(lead.slip["value"]))
    share = say_number(round(100 * float(lead.slip["usual"])))
    return (
        f"The predictions are no better than {value} for every sample, which {share} % of the targets are{place}",
        (
            f"The mean absolute error of that answer is {say_number(float(lead.slip['guess']))}, and the loss is still "
            "about as high."
        ),
        Hypothesis(
            f"A mean absolute error asks for the median, and the median of the targets is {value}{place}",
            0.85,
            f"Where more than half of the targets are {value}, that answer is hard to leave: each sample pulls as hard "
            "as any other, and most pull there. The others are told only where the input makes them likely.",
            f"Train with a squared error, which asks for the mean, or in two parts: whether a target is {value}, and "
            "how large it is if not.",
            MEDIAN_CODE,
        ),
    )


def _say_unknown(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    return (
        f"Every word in {lead.slip['name']} is unknown: it holds 0 and 1 alone",
        "In all checked steps no word number was above 1: 0 is padding, and 1 stands for a word that is not known.",
        Hypothesis(
            "The vocabulary does not hold the words of these texts",
            0.9,
            "All texts of one length look the same to the model. Possible causes: the lookup was adapted to other "
            "texts or to something else, splits or spells words in another way, or a vocabulary was built of numbers "
            "or of whole texts.",
            "Adapt the lookup to the training texts, as they are when they are looked up.",
            UNKNOWN_CODE,
        ),
    )


def _say_ids(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, rate = lead.slip["layer"], float(lead.slip["drops"])
    place = say_line(lead.slip.get("source"))
    return (
        f"A dropout scales the ids that `{layer}` looks up by {rate:.3g}{place}",
        (
            f"A dropout multiplies what it keeps, in training only. An id becomes another one: 1000 becomes "
            f"{int(1000 * rate)}."
        ),
        Hypothesis(
            f"The dropout stands before `{layer}`, not after it",
            0.95,
            f"In training row {int(1000 * rate)} of the table is learned for id 1000. In evaluation nothing is scaled, "
            "and row 1000 is looked up, which was learned for another id.",
            f"Apply the dropout to the output of `{layer}`, and give it the ids as they are.",
            IDS_CODE,
        ),
    )


def _say_unnormalised(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, size = str(lead.slip["layer"]), say_number(lead.root_mean_square)
    seen = f"The root mean square of what `{layer}` gives was {size} or more at every checked step; normalised data: 1."
    if is_as_made(lead.slip):
        return f"`{layer}` normalises nothing: it was never adapted", seen, advise_adapt(layer)
    if lead.slip["normalises"] == "given":
        return (
            f"What `{layer}` gives is not normalised: the variance that it was given is not that of its input",
            seen,
            Hypothesis(
                f"`{layer}` was given a standard deviation as its variance, or numbers of other data",
                0.9,
                "It subtracts the mean and divides by the root of the variance. With a standard deviation there, each "
                "column is divided by too little, or too much, and keeps most of its scale.",
                "Give it the variance of its own input, the square of the standard deviation, or call `adapt`.",
                GIVEN_CODE,
            ),
        )
    return (
        f"What `{layer}` gives is not normalised: it was adapted to other data",
        seen,
        Hypothesis(
            f"`{layer}` was adapted to data that are not those it is given",
            0.9,
            "Usual reason: the data are scaled before, and the layer was adapted to them as they were. Then it scales "
            "them a second time, and columns become nearly constant.",
            "Adapt the layer to exactly what the model is trained on, or scale only once.",
            ADAPT_CODE,
        ),
    )


def _say_floored(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, dtype = say_line(lead.slip["source"]), lead.slip["floored"]
    if lead.slip.get("padded"):
        return (
            f"`pad_sequences` cuts the fractions off: it makes int32 of the sequences{place}",
            "The sequences hold numbers with fractions, and the call asks for no type. Its default is int32.",
            Hypothesis(
                f"`pad_sequences` is not told to keep floating-point numbers{place}",
                0.95,
                "Its default is made for the ids of words. Measurements between -1 and 1 all become 0, larger ones "
                "whole numbers: most of what they tell is gone.",
                "Ask for float32.",
                as_diff(lead, with_keyword(line_of(lead), PADDING, 'dtype="float32"')) or PADDED_CODE,
            ),
        )
    if dtype == "//":
        return (
            f"`//` drops the fractions of what is scaled: it becomes 0{place}",
            (
                "The line divides by the largest level of an image, without a rest. What enters the model is 0 mostly, "
                "and else 1."
            ),
            Hypothesis(
                f"`//` in place of `/`{place}",
                0.95,
                "Only the very brightest elements are left, as 1: all that tells one image from another is gone.",
                "Divide by 255.0 with `/`, as floating-point numbers.",
                as_diff(lead, line_of(lead).replace("//", "/") if "//" in line_of(lead) else None) or SCALED_CUT_CODE,
            ),
        )
    if lead.slip.get("scaled"):
        return (
            f"A cast to {dtype} cuts scaled numbers to 0{place}",
            "The line scales them to between 0 and 1, then cuts off the fractions: what the model gets is mostly 0.",
            Hypothesis(
                f"A cast to {dtype} behind a division cuts off the fractions{place}",
                0.95,
                "A cast to whole numbers does not round: all below 1 becomes 0, whatever it was. Classes that are "
                "scaled become one class, and images become black.",
                "Scale inputs as float32. Leave class numbers as they are: they are not scaled at all.",
                SCALED_CUT_CODE,
            ),
        )
    return (
        f"Numbers between 0 and 1 are cut to whole numbers: they become 0{place}",
        f"Most of what the line casts to {dtype} is neither 0 nor 1, and what the model is trained on is mostly 0.",
        Hypothesis(
            f"A cast to {dtype} cuts off the fractions{place}",
            0.95,
            "A cast to whole numbers does not round: all below 1 becomes 0, whatever it was.",
            "Keep them as float32; for classes compare with a threshold, or round.",
            as_diff(lead, _with_float(line_of(lead), dtype)) or FLOORED_CODE,
        ),
    )


def _with_float(line: str, dtype: str) -> str | None:
    return None if dtype == "int" else re.sub(rf"\b{dtype}\b", "float32", line)


def _say_only(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, label, count = say_line(lead.slip["source"]), say_number(lead.slip["only"]), f"{lead.slip['samples']:,}"
    return (
        f"All {count} labels are {label}: there is no other class to learn{place}",
        f"`fit` was given {count} labels, and each is {label}.",
        Hypothesis(
            f"The labels lost their classes before the training{place}",
            0.95,
            "A model that gives this class for anything has no loss. The loss falls to 0, the accuracy is 1, and "
            "nothing is learned.",
            "Look at the line that makes the labels: a comparison with a value that never stands there, a cast that "
            "rounds, the wrong column, or a filter that leaves one class.",
            ONLY_CODE,
        ),
    )


COLUMNS: Final[Words] = {
    SlipKind.SCALED: _say_scaled,
    SlipKind.UNSCALED: _say_unscaled,
    SlipKind.WRAPPED: _say_wrapped,
    SlipKind.UNKNOWN: _say_unknown,
    SlipKind.MEDIAN: _say_median,
    SlipKind.ONLY: _say_only,
    SlipKind.UNNORMALISED: _say_unnormalised,
    SlipKind.FLOORED: _say_floored,
    SlipKind.IDS: _say_ids,
}
"""What each tells: a title, what was seen, and the cause."""
