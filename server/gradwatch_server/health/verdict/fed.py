"""Words for what a training loses of its data on the way in: order, samples, classes, fractions, scale."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gradwatch_server.health.episode import Misshaped, SlipKind
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.verdict.advice_growth import ADAPT_CODE, SCALED_INPUTS, advise_adapt, is_as_made
from gradwatch_server.health.verdict.advice_stall import advise_column
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import (
    as_next,
    as_transpose,
    cast_before,
    say_change,
    with_function,
    with_keyword,
)
from gradwatch_server.health.verdict.spelling import list_names, say_number

__all__ = ["FED", "order_of_axes"]

BUNCHED_CODE: Final = """\
data = data.shuffle(n_rows).batch(batch_size)"""
SCALED_CODE: Final = """\
normalise = tf.keras.layers.Normalization()           # axis=-1: one mean and one deviation per column
normalise.adapt(x_train)"""
RESEEDED_CODE: Final = """\
rng = np.random.default_rng(seed)             # once
def batches():
    while True:
        rows = rng.choice(n_rows, size=batch_size)"""
RESTARTED_CODE: Final = """\
batches = iter(data.repeat())                         # once, before the loop
batch = next(batches)                                 # in the loop"""
RESIZED_CODE: Final = """\
mask = tf.image.resize(mask, size, method="nearest")  # takes a class that is there
mask = tf.cast(mask, tf.int32)"""
TURNED_CODE: Final = """\
x = np.transpose(signals, {axes})                  # changes the axes' places"""
ORDERED_CODE: Final = """\
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size, drop_remainder=True)      # no shuffle
model.fit(data)"""
SHUFFLED_CODE: Final = """\
model.fit(x, y, batch_size=batch_size, shuffle=False)  # the rows of a batch go on in the next one"""
WRAPPED_CODE: Final = """\
difference = second.astype(np.float32) - first.astype(np.float32)"""
IDS_CODE: Final = """\
vectors = tf.keras.layers.Embedding(n_ids, width)(ids)                              # ids as they are
vectors = tf.keras.layers.Dropout(rate, noise_shape=(None, n_times, 1))(vectors)    # drops whole words"""
FOREIGN_CODE: Final = """\
negatives = rng.integers(0, n_items, size=batch)      # n_items: the rows of the items' table"""
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
CACHED_CODE: Final = """\
data = data.map(load).cache()                               # what is the same in every epoch
data = data.shuffle(n_samples).map(augment).batch(batch_size)"""
ONLY_CODE: Final = """\
print(np.unique(y, return_counts=True))               # where the labels are made, and after each step behind that"""
PARTED_CODE: Final = """\
order = np.random.permutation(len({x}))
{x}, {y} = {x}[order], {y}[order]"""
SPLIT_CODE: Final = """\
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)
x, y = shuffle(x, y, random_state=0)                        # where they are shuffled alone"""
ZIPPED_CODE: Final = """\
rows = tf.data.Dataset.zip((inputs, targets)).shuffle(n_samples)     # pairs, in one order"""
TURN_IN_DEGREES: Final = 100.0
ANGLES_CODE: Final = """\
d_angle = (angle_after - angle_before + np.pi) % (2 * np.pi) - np.pi     # of the angle's column alone"""
COARSE_CODE: Final = """\
rewards = np.zeros_like(actions, dtype=np.float32)"""
ROUNDED_COLUMN_CODE: Final = """\
np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)      # of an hour: one turn in 24
print(x.min(axis=0), x.max(axis=0))                               # of the inputs: does every column vary?"""


UNKNOWN_CODE: Final = """\
vectorize.adapt(train_texts)                          # the texts themselves, before anything is vectorized
print(vectorize.get_vocabulary()[:20])                # words of these texts?
print(vectorize(train_texts[:2]))"""
COUNTED_CODE: Final = """\
counts = np.bincount(np.ravel(y_train).astype(int))
class_weight = {label: len(y_train) / (len(counts) * n) for label, n in enumerate(counts)}
model.fit(x_train, y_train, class_weight=class_weight)                    # and what else you give it"""
DIMMED_CODE: Final = """\
print(x.min(), x.max())                               # 0 to 255: divide by 255; else they are scaled already"""
RESCALED_CODE: Final = """\
image = tf.cast(image, tf.float32)                    # 0 to 255: the layer scales it"""
BACKBONE_CODE: Final = """\
image = tf.cast(image, tf.float32)                    # 0 to 255
image = keras.applications.{module}.preprocess_input(image)"""
BEYOND_CODE: Final = """\
def prepare(x):                                             # what was done to the training data, and no more
    return x.astype("float32") / 255.0                      # of a table: scaler.transform(x), fitted to x_train
x_train, x_val = prepare(x_train), prepare(x_val)"""
MIXED_CODE: Final = """\
model.fit(x_train, y_train, validation_data=(x_val, y_val))"""
CUT_CODE: Final = """\
n = 5000                                                    # the same rows of both
x_train, x_val = x[:-n], x[-n:]
y_train, y_val = y[:-n], y[-n:]"""
NOISY_CODE: Final = """\
{noisy} = {clean} + noise
model.fit({noisy}, {clean})                                 # inputs with noise, targets without"""
ALIKE_CODE: Final = """\
noise = np.random.normal(size={clean}.shape)                # of each sample its own
{noisy} = {clean} + noise"""
RESHUFFLED_CODE: Final = """\
data = data.shuffle(n_samples, seed=0, reshuffle_each_iteration=False)      # one order, for the cut
val, train = data.take(n_val), data.skip(n_val).shuffle(n_samples)          # anew each epoch: after the cut"""
SUBSET_CODE: Final = """\
same = dict(validation_split=0.2, seed=1, image_size=size)                  # one seed for both
train = keras.utils.image_dataset_from_directory(folder, subset="training", **same)
val = keras.utils.image_dataset_from_directory(folder, subset="validation", **same)"""
RENUMBERED_CODES: Final = {
    "fit_on_texts": """\
{name}.fit_on_texts(train_texts)                            # once, to the training texts
x_train = pad_sequences({name}.texts_to_sequences(train_texts), maxlen=length)
x_val = pad_sequences({name}.texts_to_sequences(val_texts), maxlen=length)""",
    "adapt": """\
{name}.adapt(train_texts)                                   # once, to the training texts
x_train, x_val = {name}(train_texts), {name}(val_texts)""",
    "fit": """\
x_train = {name}.fit_transform(train_texts)                 # once, to the training texts
x_val = {name}.transform(val_texts)""",
}
FOLDS_CODE: Final = """\
for train, held in KFold(5, shuffle=True, random_state=0).split(x):
    {model} = build_model()                                 # of each fold its own, compiled anew as well
    {model}.fit(x[train], y[train], validation_data=(x[held], y[held]))"""
EPOCHS_CODE: Final = """\
{model} = build_model()                                     # once, before the loop
for epoch in range(epochs):
    {model}.fit(x_train, y_train, epochs=1)"""
COMPILED_CODE: Final = """\
{model}.compile(optimizer="adam", loss=loss)                # once
{model}.fit(x_train, y_train, epochs=epochs)"""
TARGETS_BEYOND_CODE: Final = """\
mean, std = y_train.mean(axis=0), y_train.std(axis=0)       # of the training data alone
y_train, y_val = (y_train - mean) / std, (y_val - mean) / std"""
SEEN_CODE: Final = """\
n = len(x) * 4 // 5                                         # of rows that are in random order
x_train, y_train, x_val, y_val = x[:n], y[:n], x[n:], y[n:]
model.fit(x_train, y_train, validation_data=(x_val, y_val))"""
WINDOWED_CODE: Final = """\
cut = len(series) * 4 // 5                                  # split the series, then draw windows of each part
x_train, y_train = windows_of(series[:cut])
x_val, y_val = windows_of(series[cut:])"""
MEDIAN_CODE: Final = """\
model.compile(optimizer, loss="mse")                        # or, with one output for each part:
model.compile(optimizer, loss={"is_any": "binary_crossentropy", "amount": "mae"})
model.fit(x, {"is_any": y != 0, "amount": y}, sample_weight={"is_any": np.ones(len(y)), "amount": y != 0})"""
BLUE_CODE: Final = """\
image = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)"""
JITTERED_CODE: Final = """\
train = train.map(augment)                                  # the training data alone
model.fit(train, validation_data=val)"""
GENERATOR_CODE: Final = """\
augmented = ImageDataGenerator(rescale=1 / 255, {what}=..., validation_split=0.2)
plain = ImageDataGenerator(rescale=1 / 255, validation_split=0.2)
train = augmented.flow_from_directory(folder, subset="training")
val = plain.flow_from_directory(folder, subset="validation", shuffle=False)"""
UNCONVERTED_CODE: Final = """\
image = tf.image.convert_image_dtype(image, tf.float32)       # of uint8: divides by 255
image = tf.image.resize(image, size)"""
BRIGHTENED_CODE: Final = """\
image = tf.image.random_brightness(image, 0.1)
image = tf.clip_by_value(image, 0.0, 1.0)"""
BRIGHTER_CODE: Final = """\
tf.keras.layers.RandomBrightness(0.1, value_range=(0, 1))"""
NAME: Final = re.compile(r"[^\W\d]\w*")
BRIGHTENING: Final = frozenset({"RandomBrightness"})
PADDING: Final = frozenset({"pad_sequences"})
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


def _say_restarted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n_seen, n_rows = say_line(lead.slip["source"]), lead.slip["n_seen"], lead.slip["n_rows"]
    if lead.slip.get("reseeded"):
        return (
            f"Each epoch draws the same samples: only {n_seen:,} of {n_rows:,} are ever seen{place}",
            "The generator makes its random numbers from the same seed each time it is begun, once in each epoch.",
            Hypothesis(
                f"The seed is set within the generator{place}",
                0.95,
                f"A data set begins its generator anew in each epoch. From the same seed it draws the same {n_seen:,} "
                "samples in the same order, and the model learns these by heart.",
                "Make the random generator once, outside of the function.",
                RESEEDED_CODE,
            ),
        )
    line = as_next(_line_of(lead), "batches")
    diff = None if line is None else f"+ batches = iter({line[1]}.repeat())      # before the loop\n"
    return (
        f"Each step restarts the data set: only the first {n_seen:,} of its {n_rows:,} samples are ever seen{place}",
        (
            "A new iterator begins at the first sample. A shuffle does not help: it draws from a buffer that holds "
            "only the first ones."
        ),
        Hypothesis(
            f"The iterator is made within the loop{place}",
            0.95,
            f"The other {n_rows - n_seen:,} samples are never drawn, however long the training takes. The model "
            "overfits to those that are.",
            "Make the iterator once, before the loop, or let the loop go over the data set.",
            RESTARTED_CODE if line is None or diff is None else diff + str(_changed(lead, line[0])),
        ),
    )


def _say_resized(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, method = say_line(lead.slip["source"]), lead.slip["resized"]
    default = "" if method in _line_of(lead).lower() else ", the default"
    hiding = "loss" if lead.slip.get("uncast") else "cast to integers that follows"
    return (
        f"Class ids are interpolated: labels are resized with `{method}`{place}",
        (
            f"`{method}`{default}, averages neighbouring pixels: between class 0 and class 4, ids 1, 2 and 3 appear. "
            f"The {hiding} cuts off what is left of a number."
        ),
        Hypothesis(
            f'`method="nearest"` is missing where labels are resized{place}',
            0.95,
            "Along every border between two classes the labels name classes that are not there, most of all where "
            "regions are narrow.",
            f'Resize labels with method="nearest"; images may keep `{method}`.',
            _changed(lead, with_keyword(_line_of(lead), RESIZING, 'method="nearest"')) or RESIZED_CODE,
        ),
    )


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
            _changed(lead, as_transpose(_line_of(lead), axes) if is_known else None)
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
            _changed(lead, cast_before(_line_of(lead), "float32")) or WRAPPED_CODE,
        ),
    )


def _say_rescaled(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, layer = say_line(lead.slip["source"]), lead.slip["layer"]
    low, high = map(say_number, lead.reach)
    factor, offset = float(lead.slip["rescales"]), float(lead.slip["offset"])
    least, most = (say_number((one - offset) / factor) for one in lead.reach)
    return (
        f"Images are scaled twice: `{layer}` gets them scaled already, and gives numbers from {low} to {high}{place}",
        (
            f"`{layer}` multiplies by {say_number(factor)}, for numbers from 0 to 255. In all checked steps what it "
            f"was given lay between {least} and {most}."
        ),
        Hypothesis(
            f"The inputs are scaled to next to nothing: divided by their range twice, the last time in {layer}{place}",
            0.95,
            "What is left varies by a few thousandths. Next to the biases it is nothing, so the first layers give "
            "nearly the same for every image.",
            "Scale once: give the layer numbers from 0 to 255, or remove it. Models of `keras.applications` with such "
            "a layer want 0 to 255.",
            _changed(lead, _without_division(_line_of(lead))) or RESCALED_CODE,
        ),
    )


def _say_dimmed(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, n_lines = say_line(lead.slip["source"]), int(lead.slip["dims"])
    low, high = map(say_number, lead.reach)
    return (
        f"Inputs are scaled twice: what enters the model lies between {low} and {high}{place}",
        (
            f"{'A line divides' if n_lines == 1 else f'{n_lines} lines divide'} by the range of images of 8 bits. In "
            "all checked steps the inputs were smaller than any such image is then."
        ),
        Hypothesis(
            f"The inputs are divided by 255 though they are scaled already{place}",
            0.9,
            "What is left varies by a few thousandths. Next to the biases it is nothing, so the first layers give "
            "nearly the same for every sample.",
            "Scale once: print the smallest and the largest number before each division, and remove the last one.",
            DIMMED_CODE,
        ),
    )


def _without_division(line: str) -> str | None:
    changed = re.sub(r"\s*/=?\s*(255|256|127\.5|128)(\.0*)?(?![\d.])", "", line)
    return None if changed == line or "/=" in line else changed


def _say_backbone(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name = say_line(lead.slip["source"]), lead.slip["name"]
    low, high = map(say_number, lead.reach)
    least, most = (say_number(float(one)) for one in lead.slip["wants"])
    by, module = str(lead.slip.get("by", "")), lead.slip["module"]
    if by:
        return (
            f"{name} gets images prepared by `{by}.preprocess_input`, not by its own `preprocess_input`{place}",
            (
                f"The script uses `{by}.preprocess_input`. It gives other numbers than "
                f"`{module}.preprocess_input`, with which {name} was trained."
            ),
            Hypothesis(
                f"The images are prepared for another network than {name}{place}",
                0.93,
                "Each family was trained on a range, a mean and an order of channels of its own. With others the "
                "pretrained features are far worse than they could be.",
                f"Take the `preprocess_input` of {name}'s own module.",
                f"from tensorflow.keras.applications.{module} import preprocess_input",
            ),
        )
    if lead.slip.get("within") and lead.reach[0] < 0:
        return (
            f"Images are prepared twice for {name}: what enters lies between {low} and {high} already{place}",
            (
                f"The model calls `{module}.preprocess_input` on its inputs, which wants 0 to 255. In all checked "
                f"steps these lay between {low} and {high}."
            ),
            Hypothesis(
                f"The images are scaled before they enter the model, and again by `preprocess_input` in it{place}",
                0.95,
                f"Prepared twice, the images are not between {least} and {most}, where {name} was trained: they are "
                "next to constant, or moved by the mean once more and their channels turned back.",
                "Prepare them once: give the model images from 0 to 255, or leave `preprocess_input` out of it.",
                BACKBONE_CODE.format(module=module),
            ),
        )
    return (
        f"{name} gets images from {low} to {high}, and was trained on {least} to {most}{place}",
        (
            f"In all checked steps what entered the model lay between {low} and {high}."
            + ("" if lead.slip["prepared"] else " Nothing after that scales it.")
        ),
        Hypothesis(
            f"The images are not prepared as {name} wants them{place}",
            0.95,
            "The weights of a pretrained network, and the means and variances of its batch normalisations, belong to "
            "one range of inputs. In another it gives next to the same features for every image, or huge ones.",
            "Give its own `preprocess_input` images from 0 to 255, and scale nothing yourself.",
            BACKBONE_CODE.format(module=lead.slip["module"]),
        ),
    )


def _say_beyond(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip["source"])
    low, high, low_held, high_held = (say_number(float(one)) for one in lead.slip["beyond"])
    what = "targets" if lead.slip.get("of_targets") else "data"
    names = [f"`{one}`" for one in lead.slip["names"]] or [f"the training {what}", f"the validation {what}"]
    return (
        f"The validation {what} are in another range: {low_held} to {high_held}, in training {low} to {high}{place}",
        f"Some rows of {names[0]} and {names[1]}, as `fit` gets them, were compared, column by column.",
        Hypothesis(
            f"Only one of {names[0]} and {names[1]} is scaled, or one is scaled twice{place}",
            0.95,
            "What the model learns holds for one range. The validation loss and its metrics then say nothing, however "
            "well it learns, and neither do early stopping or the best weights that are chosen by them.",
            "Prepare both by one function, with the numbers of the training data.",
            TARGETS_BEYOND_CODE if what == "targets" else BEYOND_CODE,
        ),
    )


def _say_seen(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, share = say_line(lead.slip["source"]), say_number(round(100 * float(lead.slip["seen"])))
    names = [f"`{one}`" for one in lead.slip["names"]] or ["the training data", "the validation data"]
    return (
        f"{share} % of the validation samples are among the training samples{place}",
        f"Rows of {names[1]} were looked for in {names[0]}: {share} % are there, nearly all with the same targets.",
        Hypothesis(
            f"The validation samples were not taken out of the training data{place}",
            0.93,
            "The model has learned these very samples. Its validation loss looks good however much it overfits, and "
            "says nothing of new data. Usual reasons: the training data are not shortened by what is held out, or rows "
            "were copied, to balance classes, before they were split.",
            "Split first, leave out of the training what is held out, and copy rows of the training data only.",
            SEEN_CODE,
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


def _say_jittered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, what = say_line(lead.slip["source"]), [str(one) for one in lead.slip["jittered"]]
    is_map = any(one.startswith("tf.") or one[:1].isupper() for one in what)
    by = "the map of the data set" if is_map else "the `ImageDataGenerator`"
    return (
        f"The validation images are augmented like the training images{place}",
        f"{list_names([f'`{one}`' for one in what])} in {by} that `fit` validates with: each pass sees other images.",
        Hypothesis(
            f"The validation data go through the random augmentation too{place}",
            0.9,
            "The validation loss is that of altered images. It is higher than that of the images themselves and "
            "differs from epoch to epoch by chance, which misleads early stopping and the choice of the best epoch.",
            "Augment the training data only. Give both the same preparation without chance, such as the scaling.",
            JITTERED_CODE if is_map else GENERATOR_CODE.format(what=what[0]),
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


def _say_blue(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name, by = say_line(lead.slip["source"]), str(lead.slip["name"]), str(lead.slip.get("by", ""))
    known = f"`{name}` was trained on images that were read red first" if name else f"`{by}` reads them red first"
    what = f"images for `{name}`" if name else "the images to predict"
    return (
        f"`cv2.imread` reads {what} with red and blue exchanged{place}",
        f"OpenCV gives the channels as blue, green, red. No line gives them another order. {known}.",
        Hypothesis(
            f"Red and blue are exchanged in what `cv2.imread` reads{place}",
            0.9,
            "What the network knows of colours does not fit these images: blue things look red to it. It may still "
            "learn, or predict, well enough to hide it.",
            "Exchange the channels after reading.",
            BLUE_CODE,
        ),
    )


RESPLIT: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "shuffle": (
        "one data set is cut by `take` and `skip`, and shuffled anew each time",
        "Both parts are cut from one data set. It is in another order on each pass, so each pass cuts other parts.",
        "Shuffle with `reshuffle_each_iteration=False` before the cut, and shuffle the training part after it.",
        RESHUFFLED_CODE,
    ),
    "subset": (
        "both are the same `subset` of the folder",
        "The two calls list one folder, and ask for the same part of its files.",
        'Ask for `subset="training"` and `subset="validation"`, with one seed and one `validation_split`.',
        SUBSET_CODE,
    ),
    "seed": (
        "the folder's files are divided by two seeds",
        "The seed gives the order by which the files are divided. By two seeds there are two divisions.",
        "Give both calls the same seed.",
        SUBSET_CODE,
    ),
}
"""How data sets come to share samples: in the title, what was seen, and what to change."""


FOLDS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "shared": (
        "The folds share one model, `{model}`: from the second on it is validated with what it has trained on",
        "It is made before the loop over the folds, and trained on in each of them.",
        "Make and compile the model within the loop.",
        FOLDS_CODE,
    ),
    "swapped": (
        "Each fold trains on what is to be held out, and is validated with the rest",
        "`split` gives the rows to train on first, and those that are held out second: they changed places.",
        "Train on the first, and validate with the second.",
        FOLDS_CODE,
    ),
    "epoch": (
        "Each epoch makes a new `{model}`: what the last one has learned is lost",
        "It is made within the loop over the epochs, and trained for one of them.",
        "Make and compile the model before the loop.",
        EPOCHS_CODE,
    ),
    "compiled": (
        "Each epoch compiles `{model}` again: its optimizer begins anew",
        "The loop over the epochs calls `compile` with a new optimizer, and changes nothing of the model.",
        "Compile the model before the loop, or give `fit` the number of epochs.",
        COMPILED_CODE,
    ),
}
"""What a loop does with its model: the title, what was seen, and what to change."""
FOLDS_HARM: Final = {
    "shared": "The scores of the later folds say nothing of new data: they get better from fold to fold, however much "
    "the model overfits.",
    "swapped": "With k folds the model learns from one k-th of the data alone, and scores worse than it could.",
    "compiled": "Its averages of the gradients, and a schedule of the rate, start again in each epoch: the first steps "
    "of each are as rough as those of a new training.",
    "epoch": "The loss starts again in each epoch, and never gets lower than one epoch brings it.",
}


def _say_folds(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, how, model = say_line(lead.slip["source"]), str(lead.slip["folds"]), str(lead.slip["model"])
    title, seen, change, code = FOLDS[how]
    title = title.format(model=model)
    return (
        title + place,
        seen,
        Hypothesis(title.partition(":")[0] + place, 0.93, FOLDS_HARM[how], change, code.format(model=model)),
    )


def _say_renumbered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name = say_line(lead.slip["source"]), lead.slip["renumbers"]
    code = next(
        (code for call, code in RENUMBERED_CODES.items() if f"{call}(" in _line_of(lead)), RENUMBERED_CODES["fit"]
    )
    return (
        f"The words of the validation texts get numbers of their own{place}",
        f"`{name}` is fitted to the validation texts and encodes them. The training texts were encoded without that.",
        Hypothesis(
            f"`{name}` is fitted anew to the validation texts{place}",
            0.95,
            "Words are numbered by the texts that it is fitted to. In other texts the same number stands for another "
            "word, and what the model has learned of a word is applied to another.",
            "Fit it once, to the training texts, and look up both with it.",
            code.format(name=name),
        ),
    )


def _say_resplit(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip["source"])
    how, seen, change, code = RESPLIT[str(lead.slip["resplit"])]
    return (
        f"Validation samples are trained on: {how}{place}",
        seen,
        Hypothesis(
            f"Training and validation share samples: {how}{place}",
            0.95,
            "The model learns what it is validated with. The validation loss looks good however much it overfits, and "
            "says nothing of new data.",
            change,
            code,
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


def _say_noisy(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, noisy, clean = say_line(lead.slip["source"]), str(lead.slip["noisy"]), str(lead.slip["clean"])
    code = NOISY_CODE.format(noisy=noisy, clean=clean)
    if lead.slip["as"] == "alike":
        return (
            f"All samples of `{noisy}` have the same noise{place}",
            f"The random numbers have the shape of one sample of `{clean}`, and are added to each of them.",
            Hypothesis(
                f"The noise is drawn once for all samples{place}",
                0.93,
                "Noise that never changes is a constant. The model learns to subtract it, and cannot remove any other.",
                "Draw numbers of the shape of all samples.",
                ALIKE_CODE.format(noisy=noisy, clean=clean),
            ),
        )
    if lead.slip["as"] == "target":
        return (
            f"The noise is on the targets: `{noisy}` is to be learned from `{clean}`{place}",
            f"`{noisy}` is `{clean}` plus random numbers. `fit` gets `{clean}` as inputs and `{noisy}` as targets.",
            Hypothesis(
                f"Inputs and targets changed places{place}",
                0.93,
                "Noise cannot be predicted: the best that can be learned is to give back the input. The model never "
                "sees noise, and does not learn to remove it.",
                "Give the noisy array as inputs, and the clean one as targets.",
                code,
            ),
        )
    return (
        f"The noisy inputs are their own targets: nothing asks the model to remove the noise{place}",
        f"`{noisy}` is `{clean}` plus random numbers. `fit` gets it as inputs and as targets.",
        Hypothesis(
            f"`{noisy}` is the target where `{clean}` should be{place}",
            0.93,
            "The loss is least where the noise comes out as it went in. It falls, but the model learns to copy.",
            "Give the clean array as targets.",
            code,
        ),
    )


def _say_unconverted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, high = say_line(lead.slip["source"]), say_number(lead.reach[1])
    return (
        f"`convert_image_dtype` scales nothing: its image is floating-point already{place}",
        f"Numbers up to {high} enter the model. Nothing behind that line scales them.",
        Hypothesis(
            f"`convert_image_dtype` is given an image that was cast or resized to floats before{place}",
            0.93,
            "It divides by 255 only where the image has an integer type. `tf.image.resize` and `tf.cast` give floats "
            "from 0 to 255, which it takes to be scaled.",
            "Convert first, then resize; or divide by 255.",
            UNCONVERTED_CODE,
        ),
    )


def _say_brightened(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, layer = say_line(lead.slip["source"]), lead.slip["layer"]
    delta = say_number(float(lead.slip["brightens"]))
    is_layer = bool(layer) or "RandomBrightness" in _line_of(lead)
    return (
        f"Images from 0 to 1 are made brighter or darker by up to {delta}: nothing is left of them{place}",
        f"{f'`{layer}`' if layer else 'The line'} adds one random number to each image, from -{delta} to {delta}.",
        Hypothesis(
            f"The brightness is changed on a scale of 0 to 255{place}",
            0.95,
            "`RandomBrightness` takes images for 0 to 255 unless it is given a `value_range`, and clips to it: a "
            "darkened image is 0 throughout."
            if is_layer
            else "`max_delta` counts in the units of the image. Beside so large a number the image itself is nothing.",
            "Give `value_range=(0, 1)`." if is_layer else "Use a change of 0.1 or so, and clip to 0 and 1.",
            (_changed(lead, with_keyword(_line_of(lead), BRIGHTENING, "value_range=(0, 1)")) if is_layer else None)
            or (BRIGHTER_CODE if is_layer else BRIGHTENED_CODE),
        ),
    )


def _say_counted(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    if "due" in lead.slip:
        return _say_disordered(lead)
    place, rare = say_line(lead.slip["source"]), lead.slip["rare"]
    low, high = (say_number(float(lead.slip[name])) for name in ("rarely", "favoured"))
    ends = f"{low} for label {rare}, the rarest, and {high} for {lead.slip['favours']}, the commonest"
    return (
        f"The class weights are the wrong way round: {ends}{place}",
        "Each label's weight, divided by how often it occurs, is the same number.",
        Hypothesis(
            "The class weights grow with how often a label occurs",
            0.93,
            "They are meant to let rare labels count for more. These make the common ones count for still more: the "
            f"loss hardly changes where the model never says {rare}.",
            "Divide by a label's count instead of multiplying by it.",
            COUNTED_CODE,
            (
                Change("fit", before=COUNTED_CODE.rpartition("\n")[0]),
                Change("fit", given=(("class_weight", "class_weight"),)),
            ),
        ),
    )


def _say_disordered(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, label = say_line(lead.slip["source"]), lead.slip["favours"]
    given, due, low = (say_number(float(lead.slip[name])) for name in ("favoured", "due", "rarely"))
    return (
        f"The class weights are in the wrong order: label {label} gets {given}, and by its count is due {due}{place}",
        (
            "The weights are balanced for how often the labels occur, but each is given to another label. Label "
            f"{lead.slip['rare']} gets too little: {low}."
        ),
        Hypothesis(
            "The class weights are numbered in the order of the counts, not of the labels",
            0.93,
            "`value_counts()` and `most_common()` begin with the commonest label, `unique()` with the first that "
            f"occurs. Numbered 0, 1, 2, their weights go to other labels: label {label} now outweighs the others.",
            "Count the labels in the order of their numbers.",
            COUNTED_CODE,
            (
                Change("fit", before=COUNTED_CODE.rpartition("\n")[0]),
                Change("fit", given=(("class_weight", "class_weight"),)),
            ),
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
                _changed(lead, with_keyword(_line_of(lead), PADDING, 'dtype="float32"')) or PADDED_CODE,
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
            _changed(lead, _with_float(_line_of(lead), dtype)) or FLOORED_CODE,
        ),
    )


def _with_float(line: str, dtype: str) -> str | None:
    return None if dtype == "int" else re.sub(rf"\b{dtype}\b", "float32", line)


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
            _changed(lead, f"{name} = {name}[{lead.slip['by']}]" if lead.slip.get("by") else None)
            or TRIMMED_CODE.format(name=name, other=other),
        ),
    )


def _say_copied(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, name = say_line(lead.slip["source"]), lead.slip["copies"]
    wanted, how = ("repeat", "tiled") if name == "tile" else ("tile", "laid end to end")
    line, layout = _line_of(lead), f"one is repeated, the other {how}"
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
            _changed(lead, changed) or COPIED_CODE,
        ),
    )


def _say_cached(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place = say_line(lead.slip["source"])
    return (
        f"`cache()` stands behind a random map: every epoch gets the same images{place}",
        (
            "The data set is mapped by a function that draws random numbers, and what comes of it is cached. The first "
            "epoch fills the cache; from then on nothing is drawn any more."
        ),
        Hypothesis(
            f"The random augmentation is cached{place}",
            0.95,
            "Augmentation is to show other versions of a sample in each epoch. Cached, there is one version of each, "
            "and the model can learn it by heart.",
            "Put `cache()` before the random `map`, or leave it out.",
            CACHED_CODE,
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


def _say_foreign(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    slip = lead.slip
    low, high = int(slip["n_foreign"]), int(slip["n_own"])
    return (
        f"In one of two calls the ids for {slip['own']} stay below {low:,}: that is the size of {slip['foreign']}",
        (
            f"The model is called twice in a step. {slip['name']} held ids up to {high - 1:,} in one call, and none "
            f"above {low - 1:,} in the other. {slip['foreign']} has exactly {low:,} rows, {slip['own']} has more."
        ),
        Hypothesis(
            f"Ids for {slip['own']} are drawn from the range of {slip['foreign']}",
            0.9,
            f"Negatives must be drawn from all items. As it is, rows from {low:,} on are only ever seen as positives: "
            "nothing pushes them down, and they win in every ranking.",
            f"Draw from 0 to the number of rows of {slip['own']}.",
            FOREIGN_CODE,
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
    targets, assigns, call = _line_of(lead).partition(" = ")
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


def _say_angles(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    column, turn = lead.turn or (0, 2 * math.pi)
    whole = "2π" if turn < TURN_IN_DEGREES else "360"
    ends = ("0.7π", "1.5π") if turn < TURN_IN_DEGREES else ("126", "270")
    return (
        f"Column {column} of {lead.slip['name']} jumps by {whole}: it looks like a difference of angles",
        (
            f"In every batch its largest absolute value is either below {ends[0]} or between {ends[1]} and {whole}, "
            "never in between."
        ),
        Hypothesis(
            "A difference of two angles is not wrapped",
            0.85,
            "Where an angle passes the end of its range, a small step gives a plain difference of nearly a whole turn. "
            "A squared error is dominated by these few samples, and a smooth network cannot follow the jump.",
            "Wrap the difference of the angles into half a turn to either side.",
            ANGLES_CODE,
        ),
    )


def _say_coarse(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, dtype = say_line(lead.slip["source"]), lead.slip["buffer"]
    return (
        f"An array of {dtype} is filled in the loop and fed as floats: fractions are truncated{place}",
        (
            f"The array inherited its dtype, {dtype}, from the one that it was made like. NumPy silently truncates "
            "fractions that are stored in it: 0.7 becomes 0."
        ),
        Hypothesis(
            f"The array has the dtype of another one{place}",
            0.9,
            "`zeros_like`, `ones_like`, `full_like` and `empty_like` take over the dtype. Of numbers smaller than 1 "
            "nothing is left, and larger ones lose their fractions.",
            "Give the dtype.",
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
    SlipKind.UNKNOWN: _say_unknown,
    SlipKind.COUNTED: _say_counted,
    SlipKind.RESCALED: _say_rescaled,
    SlipKind.UNCONVERTED: _say_unconverted,
    SlipKind.DIMMED: _say_dimmed,
    SlipKind.BACKBONE: _say_backbone,
    SlipKind.BEYOND: _say_beyond,
    SlipKind.SEEN: _say_seen,
    SlipKind.WINDOWED: _say_windowed,
    SlipKind.JITTERED: _say_jittered,
    SlipKind.BLUE: _say_blue,
    SlipKind.MEDIAN: _say_median,
    SlipKind.FOLDS: _say_folds,
    SlipKind.RENUMBERED: _say_renumbered,
    SlipKind.RESPLIT: _say_resplit,
    SlipKind.MIXED: _say_mixed,
    SlipKind.NOISY: _say_noisy,
    SlipKind.BRIGHTENED: _say_brightened,
    SlipKind.PARTED: _say_parted,
    SlipKind.ONLY: _say_only,
    SlipKind.UNPACKED: _say_unpacked,
    SlipKind.BUNCHED: _say_bunched,
    SlipKind.UNNORMALISED: _say_unnormalised,
    SlipKind.CACHED: _say_cached,
    SlipKind.SERVED: _say_served,
    SlipKind.COPIED: _say_copied,
    SlipKind.FLOORED: _say_floored,
    SlipKind.FILTERED: _say_filtered,
    SlipKind.TRIMMED: _say_trimmed,
    SlipKind.IDS: _say_ids,
    SlipKind.FOREIGN: _say_foreign,
    SlipKind.ANGLES: _say_angles,
}
"""What each tells: a title, what was seen, and the cause."""
