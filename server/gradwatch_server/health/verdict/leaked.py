"""Words for a target that stands among the inputs."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Leaked
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.scene import Scene, tell

__all__ = ["tell_leaked"]

COLUMN_CODE: Final = """\
x = np.delete(x, {column}, axis=1)                    # the column that is the target
# or, where each row is a window of a series, end the window before its target:
x, y = series[start : start + window], series[start + window]"""

WINDOW_CODE: Final = """\
# The first target is what comes after the first window, data[window], not data[window - 1]:
tf.keras.utils.timeseries_dataset_from_array(data[:-1], targets=data[window:], sequence_length=window)
x, y = series[start : start + window], series[start + window]   # the same, by hand"""
SHIFT_CODE: Final = """\
x, y = tokens[:, :-1], tokens[:, 1:]          # y at each step is the token that comes after x"""


MASK_CODE: Final = """\
layers.MultiHeadAttention(n_heads, key_dim)(x, x, use_causal_mask=True)   # each time sees itself and what came before
layers.Conv1D(filters, kernel_size, padding="causal")(x)                   # the same of a convolution
layers.LSTM(units, return_sequences=True)(x)                               # and no Bidirectional around it"""


RETURNS_CODE: Final = """\
def step(self, action):
    ...
    return self.board.copy(), reward, done       # a new array each time: this one is changed by the next step"""
VIEWS_CODE: Final = """\
first, second = augment(x, seed=(step, 0)), augment(x, seed=(step, 1))     # other random numbers for each view"""


def tell_leaked(lead: Leaked, scene: Scene) -> Finding:
    """The finding of one place, or of two inputs that are one."""
    return _tell_same(lead, scene) if lead.pairs else _tell_target(lead, scene)


def _tell_same(lead: Leaked, scene: Scene) -> Finding:
    if lead.pairs == "returns":
        title = "The state and the state that follows it are the same in every batch"
        asked = "counts on from the state that follows another"
        hypothesis = Hypothesis(
            "The state and the state that follows are one array",
            0.9,
            "An environment that changes its array in place and hands it out puts the same array into the memory again "
            "and again: when it is read, all states of an episode are its last. No action leads anywhere, so there is "
            "nothing to learn about actions.",
            "Hand out a copy of the array, or copy it when it is put into the memory.",
            RETURNS_CODE,
        )
    else:
        title = "The two views of each sample are the same in every batch"
        asked = "compares two views of each sample"
        hypothesis = Hypothesis(
            "Both views of a sample are made with the same random numbers, or are one variable",
            0.9,
            "To tell that two views belong together is easy where they are equal, whatever the network makes of them: "
            "it learns nothing of what a sample is.",
            "Draw other random numbers for each view.",
            VIEWS_CODE,
        )
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"The step {asked}. In {lead.n_rows} full rows since step {lead.first_step}, in every sample, two of its "
            "inputs were equal in all their numbers."
        ),
        hypotheses=[hypothesis],
    )


def _tell_target(lead: Leaked, scene: Scene) -> Finding:
    of_input = f"input number {lead.number + 1}" if lead.number else "the input"
    if lead.is_next:
        where = f"in {of_input} the number after each time"
        title = f"The model sees what it is to predict: each time's target is the next number of {of_input}"
        fix = (
            'Hide the times to come: `use_causal_mask=True` of an attention, `padding="causal"` of a convolution, no '
            "`Bidirectional`. Then judge it by what it writes on its own: validation on whole sequences sees them too."
        )
        code = MASK_CODE
    elif lead.is_whole:
        where = f"each sequence of {of_input}"
        title = f"The targets are the inputs themselves: {where} is its own target"
        fix = "Shift the one against the other: what is to be given at each step is the next one's number."
        code = SHIFT_CODE
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
    same = (
        "was the target" if lead.is_whole or lead.is_next else "held the sample's target, or the same in another unit"
    )
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"In {lead.n_rows} full rows since step {lead.first_step}, in every sample, {where} {same}.",
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
            )
        ],
        subject=where,
    )
