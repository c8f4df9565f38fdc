"""Words for slips of images: how they are scaled, turned, resized."""

from __future__ import annotations

import math
import re
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import with_keyword
from gradwatch_server.health.verdict.slips.line import Words, as_diff, line_of
from gradwatch_server.health.verdict.spelling import list_names, say_number

__all__ = ["IMAGES"]

RESIZED_CODE: Final = """\
mask = tf.image.resize(mask, size, method="nearest")  # takes a class that is there
mask = tf.cast(mask, tf.int32)"""
FOREIGN_CODE: Final = """\
negatives = rng.integers(0, n_items, size=batch)      # n_items: the rows of the items' table"""
TURN_IN_DEGREES: Final = 100.0
ANGLES_CODE: Final = """\
d_angle = (angle_after - angle_before + np.pi) % (2 * np.pi) - np.pi     # of the angle's column alone"""
COARSE_CODE: Final = """\
rewards = np.zeros_like(actions, dtype=np.float32)"""
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
NOISY_CODE: Final = """\
{noisy} = {clean} + noise
model.fit({noisy}, {clean})                                 # inputs with noise, targets without"""
ALIKE_CODE: Final = """\
noise = np.random.normal(size={clean}.shape)                # of each sample its own
{noisy} = {clean} + noise"""
TARGETS_BEYOND_CODE: Final = """\
mean, std = y_train.mean(axis=0), y_train.std(axis=0)       # of the training data alone
y_train, y_val = (y_train - mean) / std, (y_val - mean) / std"""
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
BRIGHTENING: Final = frozenset({"RandomBrightness"})
RESIZING: Final = frozenset({"resize"})
LIKE: Final = frozenset({"empty_like", "full_like", "ones_like", "zeros_like"})


def _say_resized(lead: Misshaped) -> tuple[str, str, Hypothesis]:
    place, method = say_line(lead.slip["source"]), lead.slip["resized"]
    default = "" if method in line_of(lead).lower() else ", the default"
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
            as_diff(lead, with_keyword(line_of(lead), RESIZING, 'method="nearest"')) or RESIZED_CODE,
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
            as_diff(lead, _without_division(line_of(lead))) or RESCALED_CODE,
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
    is_layer = bool(layer) or "RandomBrightness" in line_of(lead)
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
            (as_diff(lead, with_keyword(line_of(lead), BRIGHTENING, "value_range=(0, 1)")) if is_layer else None)
            or (BRIGHTER_CODE if is_layer else BRIGHTENED_CODE),
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
            as_diff(lead, with_keyword(line_of(lead), LIKE, "dtype=np.float32")) or COARSE_CODE,
        ),
    )


IMAGES: Final[Words] = {
    SlipKind.RESIZED: _say_resized,
    SlipKind.COARSE: _say_coarse,
    SlipKind.RESCALED: _say_rescaled,
    SlipKind.UNCONVERTED: _say_unconverted,
    SlipKind.DIMMED: _say_dimmed,
    SlipKind.BACKBONE: _say_backbone,
    SlipKind.BEYOND: _say_beyond,
    SlipKind.JITTERED: _say_jittered,
    SlipKind.BLUE: _say_blue,
    SlipKind.NOISY: _say_noisy,
    SlipKind.BRIGHTENED: _say_brightened,
    SlipKind.FOREIGN: _say_foreign,
    SlipKind.ANGLES: _say_angles,
}
"""What each tells: a title, what was seen, and the cause."""
