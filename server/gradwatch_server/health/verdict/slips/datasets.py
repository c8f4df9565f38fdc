"""Words for slips of data sets: what is seen, what is kept, how they are parted, and the weights of their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Change, Hypothesis
from gradwatch_server.health.slip import SlipKind
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.rewrite import as_next
from gradwatch_server.health.verdict.slips.line import Words, as_diff, line_of
from gradwatch_server.health.verdict.spelling import say_number

__all__ = ["DATASETS"]

RESEEDED_CODE: Final = """\
rng = np.random.default_rng(seed)             # once
def batches():
    while True:
        rows = rng.choice(n_rows, size=batch_size)"""
RESTARTED_CODE: Final = """\
batches = iter(data.repeat())                         # once, before the loop
batch = next(batches)                                 # in the loop"""
CACHED_CODE: Final = """\
data = data.map(load).cache()                               # what is the same in every epoch
data = data.shuffle(n_samples).map(augment).batch(batch_size)"""
COUNTED_CODE: Final = """\
counts = np.bincount(np.ravel(y_train).astype(int))
class_weight = {label: len(y_train) / (len(counts) * n) for label, n in enumerate(counts)}
model.fit(x_train, y_train, class_weight=class_weight)                    # and what else you give it"""
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
SEEN_CODE: Final = """\
n = len(x) * 4 // 5                                         # of rows that are in random order
x_train, y_train, x_val, y_val = x[:n], y[:n], x[n:], y[n:]
model.fit(x_train, y_train, validation_data=(x_val, y_val))"""
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
    line = as_next(line_of(lead), "batches")
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
            RESTARTED_CODE if line is None or diff is None else diff + str(as_diff(lead, line[0])),
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
        (code for call, code in RENUMBERED_CODES.items() if f"{call}(" in line_of(lead)), RENUMBERED_CODES["fit"]
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


DATASETS: Final[Words] = {
    SlipKind.RESTARTED: _say_restarted,
    SlipKind.COUNTED: _say_counted,
    SlipKind.SEEN: _say_seen,
    SlipKind.FOLDS: _say_folds,
    SlipKind.RENUMBERED: _say_renumbered,
    SlipKind.RESPLIT: _say_resplit,
    SlipKind.CACHED: _say_cached,
}
"""What each tells: a title, what was seen, and the cause."""
