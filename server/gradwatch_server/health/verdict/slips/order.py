"""Words for slips of order: axes, pairs, sequences, batches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import as_transpose, with_function
from gradwatch_server.health.verdict.slips.line import Words, as_diff, line_of
from gradwatch_server.health.verdict.spelling import say_number

__all__ = ["ORDER", "order_of_axes"]

BUNCHED_CODE: Final = """\
data = data.shuffle(n_rows).batch(batch_size)"""
TURNED_CODE: Final = """\
x = np.transpose(signals, {axes})                  # changes the axes' places"""
ORDERED_CODE: Final = """\
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size, drop_remainder=True)      # no shuffle
model.fit(data)"""
SHUFFLED_CODE: Final = """\
model.fit(x, y, batch_size=batch_size, shuffle=False)  # the rows of a batch go on in the next one"""
TRIMMED_CODE: Final = """\
{other}, {name} = {other}[good], {name}[good]        # the same mask for both, before anything is cut"""
FILTERED_CODE: Final = """\
rows = tf.data.Dataset.zip((inputs, targets)).filter(lambda one, target: is_good(one))     # your predicate"""
COPIED_CODE: Final = """\
images, labels = np.repeat(images, n, axis=0), np.repeat(labels, n, axis=0)"""
SAME_CODE: Final = """\
def __getitem__(self, index):
    rows = slice(index * self.batch_size, (index + 1) * self.batch_size)
    return self.x[rows], self.y[rows]"""
PARTED_CODE: Final = """\
order = np.random.permutation(len({x}))
{x}, {y} = {x}[order], {y}[order]"""
SPLIT_CODE: Final = """\
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)
x, y = shuffle(x, y, random_state=0)                        # where they are shuffled alone"""
ZIPPED_CODE: Final = """\
rows = tf.data.Dataset.zip((inputs, targets)).shuffle(n_samples)     # pairs, in one order"""
MIXED_CODE: Final = """\
model.fit(x_train, y_train, validation_data=(x_val, y_val))"""
CUT_CODE: Final = """\
n = 5000                                                    # the same rows of both
x_train, x_val = x[:-n], x[-n:]
y_train, y_val = y[:-n], y[-n:]"""
WINDOWED_CODE: Final = """\
cut = len(series) * 4 // 5                                  # split the series, then draw windows of each part
x_train, y_train = windows_of(series[:cut])
x_val, y_val = windows_of(series[cut:])"""
NAME: Final = re.compile(r"[^\W\d]\w*")


def _say_turned(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip["source"])
    before, after = (tuple(lead.slip[name]) for name in ("before", "after"))
    axes = order_of_axes(before, after) if before[0] == after[0] else ()
    if len(set(before)) == len(before) == len(after):  # each length tells its axis
        axes = tuple(map(before.index, after))
    is_known = len(axes) == len(before)
    return (
        f"An array of shape {before} is reshaped to {after}, which mixes up its axes{place}",
        (
            "A reshape fills the new shape in the old memory order. Where the axes are the same ones in another order, "
            "each column of the new array holds parts of several old ones."
        ),
        Hypothesis(
            f"`reshape` where axes should change places{place}",
            0.9,
            "All numbers are still there, so the statistics of the whole array look right. But no row or column holds "
            "one signal any more.",
            "Use a transpose, with the order of the axes.",
            as_diff(lead, as_transpose(line_of(lead), axes) if is_known else None)
            or TURNED_CODE.format(axes=axes if is_known else "..."),
        ),
    )


def _say_shuffled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, layer = say_line(lead.slip["source"]), lead.slip["layer"]
    if lead.slip.get("of_set"):
        return (
            f"{layer} keeps its state from batch to batch, but the data set shuffles the samples{place}",
            (
                "With `stateful=True` row i of a batch starts from the state that row i of the batch before ended "
                "with. After `shuffle` the two rows belong to different sequences."
            ),
            Hypothesis(
                f"The data set of a stateful layer is shuffled{place}",
                0.95,
                "Each row starts from the state of another sequence, or of another time, so the carried state is "
                "useless.",
                "Leave `shuffle` out and keep the batches in order, or make the layer without `stateful=True`.",
                ORDERED_CODE,
            ),
        )
    return (
        f"{layer} keeps its state from batch to batch, but `fit` shuffles the samples{place}",
        (
            "With `stateful=True` row i of a batch starts from the state that row i of the batch before ended with. "
            "`fit` shuffles arrays by default, so the two rows belong to different sequences."
        ),
        Hypothesis(
            f"`shuffle=False` is missing{place}",
            0.95,
            "Each row starts from the state of another sequence, or of another time, so the carried state is useless.",
            "Call `fit` with `shuffle=False`. Reset the states where the sequences begin again, if you do not yet.",
            SHUFFLED_CODE,
            (Change("fit", given=(("shuffle", "False"),)),),
        ),
    )


def _say_windowed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, share = say_line(lead.slip["source"]), say_number(round(100 * float(lead.slip["windowed"])))
    names = [f"`{one}`" for one in lead.slip["names"]] or ["the training data", "the validation data"]
    return (
        f"The validation windows overlap with the training windows{place}",
        (
            f"Of the windows of {names[1]}, {share} % lie between two of {names[0]}: half of their times or more are "
            "in one that begins earlier, and in one that begins later."
        ),
        Hypothesis(
            f"The windows were drawn first, and split at random afterwards{place}",
            0.93,
            "Neighbouring windows share most of their numbers, so the model has seen what it is validated with, often "
            "the target too. The validation loss looks good however much it overfits, and says little of new data.",
            "Split the series by time, or by recording, before windows are drawn of each part.",
            WINDOWED_CODE,
        ),
    )


def _say_mixed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip["source"])
    inputs, targets = (f"`{one}`" for one in lead.slip["mixed"])
    is_cut = bool(lead.slip.get("cut"))
    how = (
        "Inputs and targets are cut from different rows"
        if is_cut
        else "Inputs and targets are of different parts of the data"
    )
    return (
        f"{how}: {inputs} with {targets}{place}",
        f"The script gives {inputs} as inputs and {targets} as their targets.",
        Hypothesis(
            f"{inputs} and {targets} do not belong together{place}",
            0.95,
            "Each input gets the target of another sample. Trained on, such pairs can only be learned by heart. "
            "Evaluated on them, a model does no better than guessing, however good it is.",
            "Cut both in the same way." if is_cut else "Give the targets of the same part of the data.",
            CUT_CODE if is_cut else MIXED_CODE,
        ),
    )


def _say_filtered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip["source"])
    return (
        f"Inputs and targets no longer belong together: one data set is filtered before `zip`, the other not{place}",
        "Both were equally long and in the same order; each element that the filter drops moves all behind it by one.",
        Hypothesis(
            f"Of data sets that belong together one is filtered alone{place}",
            0.95,
            "From the first dropped element on, each input gets the target of another sample.",
            "Put them together first, and filter the pairs: give the predicate its own part of a pair.",
            FILTERED_CODE,
        ),
    )


def _say_trimmed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name, other = say_line(lead.slip["source"]), lead.slip["trimmed"], lead.slip.get("picked", "x")
    return (
        f"Rows are dropped from `{other}`, but `{name}` is only shortened to fit: they no longer match{place}",
        f"Rows of `{other}` are picked by a mask or an index; of `{name}` as many are kept, from the first on.",
        Hypothesis(
            f"Rows are left out of `{other}` alone{place}",
            0.95,
            f"From the first dropped row on, each row of `{other}` gets what belongs to another. To cut `{name}` to "
            "the same length hides that.",
            f"Pick the same rows of `{name}`.",
            as_diff(lead, f"{name} = {name}[{lead.slip['by']}]" if lead.slip.get("by") else None)
            or TRIMMED_CODE.format(name=name, other=other),
        ),
    )


def _say_copied(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name = say_line(lead.slip["source"]), lead.slip["copies"]
    wanted, how = ("repeat", "tiled") if name == "tile" else ("tile", "laid end to end")
    line, layout = line_of(lead), f"one is repeated, the other {how}"
    if lead.slip.get("unrolled"):
        layout = f"a reshape keeps those of a sample {'together' if name == 'tile' else 'apart'}, `{name}` does not"
    # `np.tile` takes one number for each axis, `np.repeat` one and an axis.
    changed = None if ", (" in line else with_function(line, name, wanted)
    return (
        f"Inputs and targets no longer belong together: {layout}{place}",
        "Of a, b, `repeat` makes a, a, b, b; `tile`, or `concatenate` of copies, makes a, b, a, b.",
        Hypothesis(
            f"Of two arrays that belong together {layout}{place}",
            0.95,
            "Almost every copy of a sample gets the target of another one. The loss may still fall, while the model "
            "learns the pairs by heart.",
            "Copy both in the same way.",
            as_diff(lead, changed) or COPIED_CODE,
        ),
    )


def _say_served(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip["source"])
    if lead.slip["serves"] == "same":
        return (
            f"`__getitem__` never reads its batch index: every step gets the same rows{place}",
            "Nothing in it is random or counts up either, so each call returns the same part of the data.",
            Hypothesis(
                f"`__getitem__` returns the same batch each time{place}",
                0.95,
                "The loss falls, since the few rows of one batch are learned by heart. The rest of the data is never "
                "seen.",
                "Slice the rows by the index that `__getitem__` is given.",
                SAME_CODE,
            ),
        )
    return (
        f"`__getitem__` slices inputs and targets at different places{place}",
        "The two slices are equally long, but how far apart they begin changes with the batch index.",
        Hypothesis(
            f"Inputs and targets are sliced by different bounds{place}",
            0.95,
            "Inputs get the targets of other rows, in all batches but one at most. The best that can be learned from "
            "that is the mean of all targets.",
            "Make one slice from the batch index, and use it for both.",
            SAME_CODE,
        ),
    )


def _say_bunched(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, (held, shuffled) = say_line(lead.slip["source"]), map(say_number, lead.slip["bunched"])
    return (
        f"Whole batches are shuffled, and each holds rows that belong together{place}",
        (
            f"The rows come in groups, and are batched before they are shuffled: a batch holds rows of {held} groups. "
            f"Of rows that are shuffled first it would be {shuffled}."
        ),
        Hypothesis(
            f"The data set is batched before it is shuffled{place}",
            0.9,
            "A shuffle behind `batch` changes the order of the batches, not what is in them. Each step learns from a "
            "few groups, and where a loss takes the others of a batch for wrong answers, many of these are right ones.",
            "Shuffle first, with a buffer as large as the data, then batch.",
            BUNCHED_CODE,
        ),
    )


def _say_unpacked(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name, (one, other) = say_line(lead.slip["source"]), lead.slip["name"], lead.slip["unpacked"]
    exchanged = {one: other, other: one}
    targets, assigns, call = line_of(lead).partition(" = ")
    cured = NAME.sub(lambda found: exchanged.get(found[0], found[0]), targets) + assigns + call
    return (
        f"`{one}` and `{other}` change places: `{name}` gives them in the other order{place}",
        f"`{name}` gives `{one}` before `{other}`. The line that unpacks them has `{other}` before `{one}`.",
        Hypothesis(
            f"The results of `{name}` are unpacked in the wrong order{place}",
            0.95,
            f"From this line on `{one}` stands for `{other}`, and the other way round. Nothing fails as long as their "
            "shapes agree.",
            f"Unpack them in the order in which `{name}` gives them.",
            cured if assigns else "",
        ),
    )


def _say_parted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name, partner = say_line(lead.slip["source"]), lead.slip.get("moved"), lead.slip.get("partner")
    if lead.slip.get("split_apart"):
        return (
            f"`{partner}` and `{name}` come in two random orders: inputs and targets no longer belong together{place}",
            "Each call draws an order of its own, for one array: row i of one is not row i of the other.",
            Hypothesis(
                f"Inputs and targets are split or shuffled by two calls{place}",
                0.95,
                "From then on each sample has the target of another one. There is nothing to learn but the pairs by "
                "heart, and nothing of that holds for new samples.",
                "Give both arrays to one call.",
                SPLIT_CODE,
            ),
        )
    if name is None or partner is not None:
        parts = "Two data sets" if name is None else f"`{partner}` and `{name}`"
        return (
            f"{parts} are shuffled, each in its own order: their rows no longer belong together{place}",
            "Each shuffle draws another order, also from the same generator: row i of one is not row i of the other.",
            Hypothesis(
                f"What belongs together is shuffled independently{place}",
                0.95,
                "From then on each row is paired with another. There is nothing to learn but the pairs by "
                "heart, and nothing of that holds for new samples.",
                "Put them together first, and shuffle the pairs."
                if name is None
                else "Shuffle both by the same order.",
                ZIPPED_CODE if name is None else PARTED_CODE.format(x=partner, y=name),
            ),
        )
    return (
        f"`{name}` is shuffled alone: inputs and targets no longer belong together{place}",
        "Of two arrays that are fed as pairs, one is put into a random order, and the other stays as it is.",
        Hypothesis(
            f"One of a pair of arrays is shuffled{place}",
            0.95,
            "From then on each sample has the target of another one. The loss may still fall, while the model learns "
            "the pairs by heart.",
            "Shuffle both by the same order.",
            PARTED_CODE.format(x="x", y="y"),
        ),
    )


def order_of_axes(before: Sequence[int], after: Sequence[int]) -> tuple[Any, ...]:
    """The order of axes that gives the new shape; with other axes of length 1, as many as there were."""
    left = list(enumerate(before))[1:]
    axes = [0]
    for length in after[1:]:
        axes += [place for place, known in left if known == length and place not in axes][:1]
    return tuple(axes + [place for place, _ in left if place not in axes])


ORDER: Final[Words] = {
    SlipKind.TURNED: _say_turned,
    SlipKind.SHUFFLED: _say_shuffled,
    SlipKind.WINDOWED: _say_windowed,
    SlipKind.MIXED: _say_mixed,
    SlipKind.PARTED: _say_parted,
    SlipKind.UNPACKED: _say_unpacked,
    SlipKind.BUNCHED: _say_bunched,
    SlipKind.SERVED: _say_served,
    SlipKind.COPIED: _say_copied,
    SlipKind.FILTERED: _say_filtered,
    SlipKind.TRIMMED: _say_trimmed,
}
"""What each tells: a title, what was seen, and the cause."""
