"""Words for what a training loses of its data on the way in: order, samples, classes, fractions, scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gradwatch_server.health.episode import Misshaped, SlipKind
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.verdict.advice_stall import advise_column
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import as_transpose, cast_before, say_change, with_keyword
from gradwatch_server.health.verdict.spelling import list_names, say_number

__all__ = ["FED", "order_of_axes"]

SCALED_CODE: Final = """\
normalise = tf.keras.layers.Normalization()           # axis=-1: one mean and one deviation per column
normalise.adapt(x_train)"""
RESTARTED_CODE: Final = """\
for x, y in data.repeat().take(n_steps):              # one iterator for all steps
    train_step(x, y)"""
RESIZED_CODE: Final = """\
mask = tf.image.resize(mask, size, method="nearest")  # takes a class that is there
mask = tf.cast(mask, tf.int32)"""
TURNED_CODE: Final = """\
x = np.transpose(signals, {axes})                  # changes the axes' places"""
SHUFFLED_CODE: Final = """\
model.fit(x, y, batch_size=batch_size, shuffle=False)  # the rows of a batch go on in the next one"""
WRAPPED_CODE: Final = """\
difference = second.astype(np.float32) - first.astype(np.float32)"""
IDS_CODE: Final = """\
h = tf.keras.layers.Embedding(n, width)(tokens)
h = tf.keras.layers.SpatialDropout1D(0.15)(h)         # drops from the vectors, not from the numbers
# or drops whole words: tf.where(tf.random.uniform(tf.shape(tokens)) < 0.15, unknown, tokens)"""
FOREIGN_CODE: Final = """\
negatives = rng.integers(0, n_items, size=batch)      # n_items: the rows of the items' table"""
PARTED_CODE: Final = """\
order = np.random.permutation(len(x))
x, y = x[order], y[order]"""
TURN_IN_DEGREES: Final = 100.0
ANGLES_CODE: Final = """\
change = (after - before + np.pi) % (2 * np.pi) - np.pi"""
COARSE_CODE: Final = """\
rewards = np.zeros_like(actions, dtype=np.float32)"""
ROUNDED_COLUMN_CODE: Final = """\
print(x.min(axis=0), x.max(axis=0))                   # each column should vary by about 1
phase = 2 * np.pi * hour / 24                         # of an hour: one turn in 24
features = np.stack([np.sin(phase), np.cos(phase)], axis=-1)"""


RESIZING: Final = frozenset({"resize"})
LIKE: Final = frozenset({"empty_like", "full_like", "ones_like", "zeros_like"})


def _line_of(lead: Misshaped) -> str:
    """The user's line; "" where it is not known."""
    return str((lead.slip.get("source") or {}).get("code", ""))


def _changed(lead: Misshaped, line: str | None) -> str | None:
    """The user's line and what it becomes, as a diff; None where that is not known."""
    return None if line is None else say_change(_line_of(lead), line)


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
            "each need their own mean and deviation.",
            "Leave `axis` at its default, the last axis, and adapt the layer to the training data again.",
            SCALED_CODE,
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
            (
                f"Column {lead.narrow[0]} ranges from {low} to {high}, and never beyond that: it says nothing of a "
                "sample."
            ),
            Hypothesis(
                "A feature is computed of numbers that cancel out",
                0.9,
                "What should vary is 0, but for rounding: the sine of whole turns (a period that is missing: "
                "`sin(2 * pi * hour)` for `sin(2 * pi * hour / 24)`), a difference of a number and itself, or a ratio "
                "to something far too large.",
                "Print the column before it is fed, and look at the line that makes it.",
                ROUNDED_COLUMN_CODE,
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


def _say_restarted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n_seen, n_rows = say_line(lead.slip["source"]), lead.slip["n_seen"], lead.slip["n_rows"]
    return (
        f"Each step begins the data set anew: it sees at most {n_seen:,} of {n_rows:,} elements{place}",
        (
            "`next(iter(data))` makes a new iterator each time, which begins at the first element. With a shuffle it "
            "draws from a buffer that holds the first elements alone."
        ),
        Hypothesis(
            f"The iterator is made within the loop{place}",
            0.95,
            f"Of {n_rows:,} elements all but the first {n_seen:,} or fewer are never drawn, however long the training "
            "takes: it learns these by heart.",
            "Make the iterator once, before the loop, or let the loop go over the data set.",
            RESTARTED_CODE,
        ),
    )


def _say_resized(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, method = say_line(lead.slip["source"]), lead.slip["resized"]
    return (
        f"Class numbers are interpolated: an image of integers is resized with `{method}`{place}",
        (
            f"`{method}` makes each new number of several around it: between class 0 and class 4 there come 1, 2 and "
            "3, which are other classes. A cast to integers hides it."
        ),
        Hypothesis(
            f'`method="nearest"` is missing where labels are resized{place}',
            0.95,
            "Along every border between two classes the labels name classes that are not there, most of all where "
            "regions are narrow.",
            'Resize labels with method="nearest"; images may stay as they are.',
            _changed(lead, with_keyword(_line_of(lead), RESIZING, 'method="nearest"')) or RESIZED_CODE,
        ),
    )


def _say_turned(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip["source"])
    before, after = (tuple(lead.slip[name]) for name in ("before", "after"))
    axes = order_of_axes(before, after) if before[0] == after[0] else ()
    is_known = len(axes) == len(before)
    return (
        f"An array of shape {before} is reshaped to {after}, which mixes up its axes{place}",
        (
            "A reshape reads the numbers in their old order and cuts them anew. Where the axes are the same ones in "
            "another order, what belonged together lies apart."
        ),
        Hypothesis(
            f"`reshape` where axes should change places{place}",
            0.9,
            "The numbers themselves are all still there, so their statistics look right. But no row or column of the "
            "new array is one of the old.",
            "Use `transpose` with the order of the axes.",
            _changed(lead, as_transpose(_line_of(lead), axes) if is_known else None)
            or TURNED_CODE.format(axes=axes if is_known else "..."),
        ),
    )


def _say_shuffled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, layer = say_line(lead.slip["source"]), lead.slip["layer"]
    return (
        f"{layer} keeps its state from batch to batch, but `fit` shuffles the samples{place}",
        (
            "With `stateful=True` the state after row i of a batch is where row i of the next batch begins. "
            "`fit` shuffles arrays unless told not to: that row is then of some other sequence."
        ),
        Hypothesis(
            f"`shuffle=False` is missing{place}",
            0.95,
            "Each sequence is begun with the memory of another one, or of another time: what the state says is noise.",
            "Call `fit` with `shuffle=False`, and reset the states where the sequences begin again.",
            SHUFFLED_CODE,
            (Change("fit", given=(("shuffle", "False"),)),),
        ),
    )


def _say_wrapped(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, dtype = say_line(lead.slip["source"]), lead.slip["wraps"]
    most = 2 ** int(dtype.removeprefix("uint")) - 1
    return (
        f"A difference of two {dtype} arrays wraps round: -1 becomes {most:,}{place}",
        f"{dtype} has no numbers below 0. NumPy takes the difference in the arrays' own type, without a word.",
        Hypothesis(
            f"The difference is taken before the arrays are cast{place}",
            0.95,
            f"Where what is subtracted is a little larger, the result is near {most:,} and not near 0: "
            "small changes of one sign look like the largest ones of the other.",
            "Cast to a signed or a floating-point type before subtracting.",
            _changed(lead, cast_before(_line_of(lead), "float32")) or WRAPPED_CODE,
        ),
    )


def _say_ids(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    layer, rate = lead.slip["layer"], float(lead.slip["drops"])
    place = say_line(lead.slip.get("source"))
    return (
        f"The numbers that {layer} looks up have been through a dropout, which multiplies them by {rate:.3g}{place}",
        (
            "A dropout scales up what it keeps, in training alone. Of the number of a word, a user or a class that "
            "makes another one's number; in evaluation it does not."
        ),
        Hypothesis(
            "A dropout stands before the embedding, not after it",
            0.95,
            "In training the model learns rows of the table that belong to other numbers. In evaluation it looks up "
            "the right ones, which it was hardly ever trained with.",
            "Drop the embedded vectors, or put a number that stands for unknown in a place of its own.",
            IDS_CODE,
        ),
    )


def _say_foreign(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    slip = lead.slip
    low, high = int(slip["n_foreign"]), int(slip["n_own"])
    return (
        f"{slip['name']} gets numbers below {low:,} in one of two calls, which is the size of another table",
        (
            f"The model is called twice in a step. In one call {slip['name']} held numbers up to {high - 1:,}, in the "
            f"other none above {low - 1:,}. {slip['foreign']} has exactly {low:,} rows; {slip['own']} has more."
        ),
        Hypothesis(
            f"Numbers for {slip['own']} are drawn from the range of {slip['foreign']}",
            0.9,
            f"Negatives must be drawn from all that there is. As it is, rows from {low:,} on are only ever seen as "
            "positives: nothing pushes them down, and they win in every ranking.",
            "Draw from the number of rows of the table that is looked up.",
            FOREIGN_CODE,
        ),
    )


def _say_parted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name = say_line(lead.slip["source"]), lead.slip["moved"]
    return (
        f"`{name}` is shuffled alone: inputs and targets no longer belong together{place}",
        (
            "The rows of one of the two arrays that are fed as pairs are put into a random order, those of the other "
            "stay where they are."
        ),
        Hypothesis(
            f"One of a pair of arrays is shuffled{place}",
            0.95,
            "From then on each sample has the target of some other one. A loss may still fall: the model learns the "
            "pairs by heart.",
            "Shuffle both by the same order.",
            PARTED_CODE,
        ),
    )


def _say_angles(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    column, turn = lead.turn or (0, 2 * math.pi)
    whole = "2π" if turn < TURN_IN_DEGREES else "360"
    return (
        f"Column {column} of {lead.slip['name']} jumps by {whole}: it looks like a difference of angles",
        (
            f"In some batches the column stays within a third of {whole}, in all others it reaches from three quarters "
            f"of {whole} up to that, and never anything in between."
        ),
        Hypothesis(
            "A difference of two angles is taken without wrapping it",
            0.85,
            "From just below half a turn to just above minus half a turn is a small step, but the plain difference is "
            "nearly a whole turn. A squared error is mostly about those few samples, and they cannot be predicted.",
            "Wrap the difference into half a turn to either side, or predict sine and cosine.",
            ANGLES_CODE,
        ),
    )


def _say_coarse(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, dtype = say_line(lead.slip["source"]), lead.slip["buffer"]
    return (
        f"A buffer of {dtype} is fed as floating-point numbers: fractions were cut off on the way in{place}",
        (
            f"It was made like another array, and took over its type, {dtype}. NumPy cuts off what is behind the point "
            "of what is stored in it, without a word: 0.7 becomes 0."
        ),
        Hypothesis(
            f"The buffer has the type of the array that it was made like{place}",
            0.9,
            "`zeros_like` and its kin take over shape and type. Where the numbers are smaller than 1, nothing but 0 is "
            "left of them.",
            "Give the type: `dtype=np.float32`.",
            _changed(lead, with_keyword(_line_of(lead), LIKE, "dtype=np.float32")) or COARSE_CODE,
        ),
    )


def order_of_axes(before: Sequence[int], after: Sequence[int]) -> tuple[Any, ...]:
    """The order of axes that gives the new shape; with other axes of length 1, as many as there were."""
    left = list(enumerate(before))[1:]
    axes = [0]
    for length in after[1:]:
        axes += [place for place, known in left if known == length and place not in axes][:1]
    return tuple(axes + [place for place, _ in left if place not in axes])


FED: Final[Mapping[SlipKind, Callable[[Misshaped], tuple[str, str, Hypothesis]]]] = {
    SlipKind.SCALED: _say_scaled,
    SlipKind.UNSCALED: _say_unscaled,
    SlipKind.RESTARTED: _say_restarted,
    SlipKind.RESIZED: _say_resized,
    SlipKind.COARSE: _say_coarse,
    SlipKind.TURNED: _say_turned,
    SlipKind.SHUFFLED: _say_shuffled,
    SlipKind.WRAPPED: _say_wrapped,
    SlipKind.PARTED: _say_parted,
    SlipKind.IDS: _say_ids,
    SlipKind.FOREIGN: _say_foreign,
    SlipKind.ANGLES: _say_angles,
}
"""What each tells: a title, what was seen, and the cause."""
