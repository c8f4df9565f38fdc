"""Words for a target that stands among the inputs."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Leaked
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.setup import source_of
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.scene import Scene, tell

__all__ = ["MASK_CODE", "advise_views", "tell_leaked"]

COLUMN_CODE: Final = """\
x = np.delete(x, {column}, axis=1)                    # the column that is the target
# or, where each row is a window of a series, end the window before its target:
x, y = series[start : start + window], series[start + window]"""

WINDOW_CODE: Final = """\
# The first target is what comes after the first window, data[window], not data[window - 1]:
tf.keras.utils.timeseries_dataset_from_array(data[:-1], targets=data[window:], sequence_length=window)
x, y = series[start : start + window], series[start + window]   # the same, by hand"""
AHEAD_NOTE: Final = "let `targets` begin at row window - 1 + ahead, and end `data` so many rows before its end"
AHEAD_CODE: Final = """\
targets = series[window - 1 + ahead :, 0]                    # column 0; ahead >= 1
tf.keras.utils.timeseries_dataset_from_array(series[:-ahead], targets=targets, sequence_length=window)"""
SHIFT_CODE: Final = """\
x, y = tokens[:, :-1], tokens[:, 1:]          # y at each step is the token that comes after x"""


TRIANGLE_CODE: Final = """\
- mask = i <= j      # row i: the position that looks, column j: the one it looks at, True: may be seen
+ mask = i >= j      # itself and what came before: the lower triangle, tf.linalg.band_part(ones, -1, 0)
# where True (or 1) hides: mask = i < j"""
MASK_CODE: Final = """\
layers.MultiHeadAttention(n_heads, key_dim)(x, x, use_causal_mask=True)   # each time sees itself and what came before
layers.Conv1D(filters, kernel_size, padding="causal")(x)                   # the same of a convolution
layers.LSTM(units, return_sequences=True)(x)                               # and no Bidirectional around it"""


RETURNS_CODE: Final = """\
def reset(self):
    ...
    return self.board.copy()

def step(self, action):
    ...
    return self.board.copy(), ...                # a copy: the next step edits self.board"""
VIEWS_CODE: Final = """\
first = augment(x, first_seed)
second = augment(x, second_seed)                             # another seed, in every step"""


def advise_views(cause: str, fix: str) -> Hypothesis:
    """A cause of two views of a sample that are one."""
    why = "Identical views match trivially, so the network learns nothing about the samples."
    return Hypothesis(cause, 0.9, why, fix, VIEWS_CODE)


def tell_leaked(lead: Leaked, scene: Scene) -> Finding:
    """The finding of one place, or of two inputs that are one."""
    if lead.masks:
        return _tell_masked(lead, scene)
    if lead.are_alike:
        return _tell_alike(lead, scene)
    if lead.has_blank or lead.is_twice:
        return _tell_blank(lead, scene) if lead.has_blank else _tell_twice(lead, scene)
    return _tell_same(lead, scene) if lead.pairs else _tell_target(lead, scene)


BUFFER_CODE: Final = """\
batch.append(window.copy())                        # not `window`, which is written into again
# or, in a batch that is made beforehand:
batch[i] = window"""
BLANK_CODE: Final = """\
labels = labels + 1                                # 0 is the blank; a last layer of len(alphabet) + 1 units
# or name another blank, the same as when you decode:
loss = tf.nn.ctc_loss(labels, logits, label_length, logit_length, blank_index=-1)"""


def _tell_blank(lead: Leaked, scene: Scene) -> Finding:
    place = say_line(lead.source)
    return tell(
        lead,
        scene,
        title=f"Label 0 is used as a label, and the CTC loss takes it for the blank{place}",
        source=None if lead.source is None else dict(lead.source),
        evidence=scene.evidence(
            f"In all {lead.n_rows} batches checked since step {lead.first_step}, some sequence of labels began with 0. "
            "The blank of this loss is 0: it stands for no label at all, and for padding."
        ),
        hypotheses=[
            Hypothesis(
                f"The labels count from 0, which is the blank of the CTC loss{place}",
                0.93,
                "Wherever label 0 stands the loss asks for nothing, so that label is never learned; where padding is "
                "counted by it, sequences end too soon. Decoding with another blank gives nonsense.",
                "Let labels count from 1, or give the loss another blank, the same as the decoder's.",
                BLANK_CODE,
            )
        ],
    )


MASKED_CODE: Final = """\
index = {word: i for i, word in enumerate(words, start=1)}      # 0 is left for padding
layers.Embedding(len(words) + 1, dim, mask_zero=True)"""


def _tell_masked(lead: Leaked, scene: Scene) -> Finding:
    place = say_line(lead.source)
    mask = "`Embedding(mask_zero=True)`" if lead.masks == "Embedding" else f"the mask `{lead.masks}`"
    return tell(
        lead,
        scene,
        title=f"Word 0 is masked as padding wherever it stands: the words are numbered from 0{place}",
        source=None if lead.source is None else dict(lead.source),
        evidence=scene.evidence(
            f"In {lead.n_rows} batches checked since step {lead.first_step}, a tenth of the sequences or more have a "
            f"single 0 between two other numbers. Padding stands at an end. And {mask} leaves out every 0."
        ),
        hypotheses=[
            Hypothesis(
                f"The vocabulary begins at 0, and 0 is masked{place}",
                0.9,
                "The layers behind the mask never see the word of number 0: its row of the table learns nothing, and "
                "each sequence reads as if it were not there. Padding and that word are one.",
                "Number the words from 1, with one more row in the table. Without padding, leave out the mask.",
                MASKED_CODE,
            )
        ],
    )


TWICE_CODE: Final = """\
x, y = tokens[:, :-1], tokens[:, 1:]                 # the data set moves them,
loss = loss_function(y, logits)                      # so the loss must not: no y[:, 1:], no logits[:, :-1]"""


def _tell_twice(lead: Leaked, scene: Scene) -> Finding:
    place = say_line(lead.source)
    return tell(
        lead,
        scene,
        title=f"The targets are shifted twice: each step learns the token after the next one{place}",
        source=None if lead.source is None else dict(lead.source),
        evidence=scene.evidence(
            f"In {lead.n_rows} batches checked since step {lead.first_step}, the targets as they are given are the "
            "next tokens of the input in every sequence. The loss then leaves out the first target and the last scores."
        ),
        hypotheses=[
            Hypothesis(
                f"Both the data and the loss shift the targets by one{place}",
                0.95,
                "The model learns to skip a token. Its loss is higher than it need be, and what it generates, one "
                "token at a time, leaves out every other one.",
                "Shift once: in the data, or in the loss.",
                TWICE_CODE,
            )
        ],
    )


def _tell_alike(lead: Leaked, scene: Scene) -> Finding:
    return tell(
        lead,
        scene,
        title="All samples of a batch are one and the same, and their targets are not",
        evidence=scene.evidence(
            f"In all {lead.n_rows} batches checked since step {lead.first_step}, every sample was exactly the first "
            "one of its batch, in all that the model is given. From batch to batch it was another."
        ),
        hypotheses=[
            Hypothesis(
                "One array is filled again for each sample, and the batch holds it many times",
                0.85,
                "A list that is given the same array again and again holds one array: after the last sample was "
                "written into it, that is what all entries show. The same input then has many targets, and the best "
                "answer is their mean, or a guess.",
                "Put a copy into the batch, or make a new array for each sample.",
                BUFFER_CODE,
            ),
        ],
    )


def _tell_same(lead: Leaked, scene: Scene) -> Finding:
    if lead.pairs == "returns":
        title = "State and next state are the same in nearly every sample"
        asked = "The training step takes its target from the next state"
        hypothesis = Hypothesis(
            "State and next state are the same array",
            0.9,
            "The environment returns one array and edits it in place, so every stored state of an episode shows its "
            "last state. Actions seem to change nothing, so none can be learned.",
            "Add `.copy()` to what reset() and step() return, whichever lacks it. A copy where the next state is "
            "stored is too late: the state is the same array, and has changed by then.",
            RETURNS_CODE,
        )
    else:
        title = "The two views of a sample are the same in nearly every one"
        asked = "The step compares two views of each sample"
        hypothesis = advise_views(
            "Both views use the same random seed, or are the same tensor", "Use a different seed for each view."
        )
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"{asked}. In all {lead.n_rows} batches checked since step {lead.first_step}, the two were exactly equal "
            "for at least 90% of the samples."
        ),
        hypotheses=[hypothesis],
    )


def _tell_target(lead: Leaked, scene: Scene) -> Finding:
    of_input = f"input number {lead.number + 1}" if lead.number else "the input"
    call = scene.setup.find_call("windows") if lead.time >= 0 else None
    mask = next((slip for slip in scene.setup.slips if lead.is_next and slip.get("onward")), None)
    if lead.is_next:
        where = f"in {of_input} the number after each time"
        title = f"The model sees what it is to predict: each time's target is the next number of {of_input}"
        fix = (
            'Hide the times to come: `use_causal_mask=True` of an attention, `padding="causal"` of a convolution, no '
            "`Bidirectional`. Then judge it by what it writes on its own: validation on whole sequences sees them too."
        )
        code = MASK_CODE if mask is None else TRIANGLE_CODE
    elif lead.is_whole:
        where = f"each sequence of {of_input}"
        title = f"The targets are the inputs themselves: {where} is its own target"
        fix = "Shift the one against the other: what is to be given at each step is the next one's number."
        code = SHIFT_CODE
    elif lead.time >= 0:
        where = f"step {lead.time} of each window of {of_input}, column {lead.column} (both counted from 0),"
        title = f"The target stands in its own input: step {lead.time} of each window holds it{say_line(call)}"
        fix = (
            "The target of the window that begins at row i is row i + window - 1 + ahead, where ahead is how many "
            "steps after its last row it lies."
        )
        code = AHEAD_CODE
    elif lead.is_last:
        where = f"the last step of each sequence of {of_input}"
        title = f"The target stands in its own input: {where} holds it"
        fix = "End the window one step before its target; then judge the model anew on held-out data."
        code = WINDOW_CODE
    else:
        where = f"column {lead.column} of {of_input} (counted from 0)"
        title = f"The target stands in its own input: {where} is the target"
        fix = "Leave the column out, or end the window before its target; then judge the model anew on held-out data."
        code = COLUMN_CODE.format(column=lead.column)
    cause = "The model looks at the times to come" if lead.is_next else "The target is among what it is predicted from"
    if mask is not None:
        place = say_line(mask.get("source"))
        title = f"{title}{place}"
        cause = f"The causal mask is the wrong way round: it shows each position itself and all later ones{place}"
        fix = "Allow the lower triangle with its diagonal: each position sees itself and what came before."
    same = (
        "was the target" if lead.is_whole or lead.is_next else "held the sample's target, or the same in another unit"
    )
    return tell(
        lead,
        scene,
        title=title,
        source=mask.get("source") if mask is not None else None if call is None else source_of(call),
        evidence=scene.evidence(
            f"In {lead.n_rows} batches checked since step {lead.first_step}, in every sample, {where} {same}.",
            column=lead.column,
        ),
        hypotheses=[
            Hypothesis(
                cause,
                0.9,
                "The loss falls because the model learns to hand the number on. It learns nothing that helps where the "
                "target is not known yet.",
                fix,
                code,
                () if call is None else (Change("windows", note=AHEAD_NOTE),),
            )
        ],
        subject=where,
    )
