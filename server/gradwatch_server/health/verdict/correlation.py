"""Words for outputs that do not follow their targets, or run against them."""

from __future__ import annotations

import math
from typing import Final

from gradwatch_server.health.correlation import RELATED, UNRELATED
from gradwatch_server.health.episode import Unrelated
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.verdict.advice_growth import advise_large_start
from gradwatch_server.health.verdict.advice_misfit import advise_labels
from gradwatch_server.health.verdict.advice_stall import advise_columns, advise_steps
from gradwatch_server.health.verdict.linear_fit import advise_model
from gradwatch_server.health.verdict.operation import say_line
from gradwatch_server.health.verdict.scene import Scene, table_of, tell
from gradwatch_server.health.verdict.spelling import say_number

__all__ = ["tell_unrelated"]

FALLEN_SHARE: Final = 0.7
"""Of its start: a loss that has come down to this has found something to lower."""
SMALL_FACTOR: Final = 5.0
"""Between the ranges of two columns of targets: the squared error of one is a twenty-fifth of the other's."""
NARROW_FACTOR: Final = 30.0
"""And where it is not known which one is left aside."""
TARGETS_CODE: Final = """\
mean, spread = y_train.mean(axis=0), y_train.std(axis=0)          # one of each for every column
model.fit(x_train, (y_train - mean) / spread)                     # predictions: mean + spread * model.predict(x)"""
SIGN_CODE: Final = """\
# A loss must be lowest where the outputs are the targets:
y = tf.cast(y[:64], tf.float32)
print(float(loss_of(y, y)), float(loss_of(y, -y)))      # the first must be the smaller one
# Of two directions: 1 - cosine; tf.keras.losses.CosineSimilarity() is negative already"""
WEIGHTS_CODE: Final = """\
# Bring the parts of the loss to one size, by what each is at first (numbers, printed once)
ratio = loss_of_{name} / loss_of_{other}
loss = loss_of_{name} + ratio * loss_of_{other}             # in a step of your own, with that number
model.compile(optimizer, loss=losses, loss_weights={{"{name}": 1.0, "{other}": ratio}})   # for Keras' own step only"""
SCARCE_CODE: Final = """\
model.fit(x_train, y_train, class_weight={{{other}: 1.0, {label}: {weight}}})      # less than that is often enough
model.compile(optimizer, loss, metrics=[tf.keras.metrics.AUC(curve="PR")])"""
PARTS_CODE: Final = """\
# What is each part of the loss, and which of them falls?
print([float(part) for part in model.losses], float(loss_of(y, model(x))))"""


def tell_unrelated(lead: Unrelated, scene: Scene) -> Finding:
    """The finding of one target."""
    name, number, of_other = _say_target(lead, lead.target), say_number(lead.correlation), lead.correlation_of_other
    if lead.is_opposite:
        title, hypotheses = f"The outputs run against {name}: their correlation is {number}", [_advise_sign()]
    elif lead.is_lost:
        title = f"The outputs follow {name} less than they did: correlation {say_number(lead.best)}, then {number}"
        hypotheses = [_advise_price()]
    elif lead.column >= 0:
        title = f"The outputs do not follow column {lead.column} of {name}, and do follow others"
        hypotheses = [*_advise_small(lead, scene), advise_model()]
    elif not math.isnan(lead.linear_fit):
        title = f"A linear fit of the same inputs follows {name} better than the model does: correlation "
        title += f"{say_number(lead.linear_fit)} against {number}"
        hypotheses = _sorted([*_advise_small(lead, scene), *_advise_learning(scene), advise_model()])
    elif of_other >= RELATED:
        title = (
            f"The outputs {'hardly' if lead.correlation >= UNRELATED else 'do not'} follow {name} (correlation "
            f"{number}), and do follow {_say_target(lead, lead.other)}"
        )
        hypotheses = _sorted([_advise_weights(lead), *advise_columns(scene), *_advise_other_labels(lead)])
    else:
        title = f"The outputs do not follow {name}: their correlation is {number}"
        causes = [*_advise_parts(scene), *_advise_learning(scene), *_advise_scarce(scene)]
        hypotheses = _sorted([*causes, advise_labels("one answer for all")])
    others = f" Of {_say_target(lead, lead.other)} it is {say_number(of_other)}." if lead.other else ""
    return tell(
        lead,
        scene,
        title=title,
        layer=table_of(lead).head_of(lead.target),
        tensor=lead.target,
        evidence=scene.evidence(
            f"Over the samples of a batch, outputs and {name} had a correlation of {number} of late, where 1 is "
            f"perfect and 0 is what an answer has that does not depend on the input.{others}",
            correlation=lead.correlation,
            correlation_of_other=of_other if lead.other else None,
            best=lead.best if lead.is_lost else None,
            column=lead.column if lead.column >= 0 else None,
            ratio=None if math.isnan(lead.ratio) else lead.ratio,
        ),
        hypotheses=hypotheses,
        subject=f"outputs for {name}",
    )


def _advise_small(lead: Unrelated, scene: Scene) -> list[Hypothesis]:
    """That a column of targets is small beside another one, where it is: a loss of all is the other one's.

    It is the one that is not followed, or the smallest.
    """
    columns = scene.facts.columns.get((max(lead.stream, 0), lead.target))
    if columns is None or lead.column >= columns.n_columns:
        return []
    reach = [high - low for low, high in map(columns.reach, range(columns.n_columns))]
    widest, least = (choose(range(len(reach)), key=lambda k: reach[k]) for choose in (max, min))
    column, factor = (lead.column, SMALL_FACTOR) if lead.column >= 0 else (least, NARROW_FACTOR)
    if not 0 < factor * reach[column] <= reach[widest] < math.inf:
        return []
    times = say_number(reach[widest] / reach[column])
    return [
        Hypothesis(
            "The targets are not scaled column by column",
            0.9,
            f"Column {widest} of the targets varies {times} times as much as column {column}. A loss over all of "
            "them is the sum of their squared errors, of which the small columns are next to nothing.",
            "Scale each column of the targets by its own mean and deviation (`axis=0`), and what is predicted back by "
            "the same.",
            TARGETS_CODE,
        )
    ]


def _advise_learning(scene: Scene) -> list[Hypothesis]:
    return [*advise_columns(scene), *advise_steps(scene), *advise_large_start(scene)]


def _sorted(causes: list[Hypothesis]) -> list[Hypothesis]:
    return sorted(causes, key=lambda cause: -cause.confidence)


def _say_target(lead: Unrelated, target: str) -> str:
    if lead.n_targets == 1:
        return "their targets"
    key = _key(lead, target)
    return f"the target {key}" if key == _given_key(target) else f"the target of {key}"


def _key(lead: Unrelated, target: str) -> str:
    """The layer that is held to a target, where it is known, else what the target stands under: a key, or a number."""
    head = table_of(lead).head_of(target)
    return _given_key(target) if head is None else head.rpartition("/")[2]


def _given_key(target: str) -> str:
    return target.partition("/")[2] or target


def _advise_sign() -> Hypothesis:
    return Hypothesis(
        "The loss asks for the opposite of the targets",
        0.85,
        "The model has learned what it was asked for: its outputs are like the targets with another sign. A loss that "
        "grows with the likeness of the two does that (`1 + cosine`, a cosine loss that is negated once more), and so "
        "does a sign that is lost on the way to the loss.",
        "Turn the sign: the loss must be lowest where outputs and targets are the same.",
        SIGN_CODE,
    )


def _advise_price() -> Hypothesis:
    return Hypothesis(
        "The loss falls at the cost of these predictions",
        0.6,
        "It came down further while the outputs came to follow their target less. So it is lowered by something else: "
        "weights of its parts that are trained themselves and have no penalty of their own, a part that has grown, or "
        "a term that rewards being unsure.",
        "Look at the parts of the loss one by one, and hold what weighs them fixed.",
        PARTS_CODE,
    )


def _advise_weights(lead: Unrelated) -> Hypothesis:
    name, other = _key(lead, lead.target), _key(lead, lead.other)
    seen = (
        ""
        if math.isnan(lead.ratio)
        else f"The loss's gradient with respect to what another head gives has been at least {say_number(lead.ratio)} "
        f"times as large as that of {name} all the while. "
    )
    return Hypothesis(
        "Another part of the loss drowns this one",
        0.6 if math.isnan(lead.ratio) else 0.9,
        f"{other} was learned meanwhile (correlation {say_number(lead.correlation_of_other)}). {seen}Where the parts "
        "of a loss differ by orders of magnitude, the steps serve the largest alone: what the layers in common learn "
        "is of no use to the others. A head that is meant to learn nothing, as an adversary's, looks the same.",
        "Scale the targets, or weigh the losses, so that all parts are about as large; then see whether this falls.",
        WEIGHTS_CODE.format(name=name, other=other),
        () if math.isnan(lead.ratio) or name.isdigit() or other.isdigit() else (_weigh(name, other, lead.ratio),),
    )


def _weigh(name: str, other: str, ratio: float) -> Change:
    """The same in `compile`, by the names of the outputs."""
    return Change(
        "compile",
        given=(("loss_weights", f'{{"{name}": 1.0, "{other}": {1 / ratio:.1g}}}'),),
        remark=f"the gradient of {other}'s loss was {say_number(ratio)} times as large; or scale {other}",
    )


def _advise_other_labels(lead: Unrelated) -> list[Hypothesis]:
    return [] if lead.correlation >= UNRELATED else [advise_labels("the mean of that target", 0.45)]


def _advise_scarce(scene: Scene) -> list[Hypothesis]:
    """The cause that a share of labels shows, where nearly all samples are of one class."""
    slip = next((one for one in scene.setup.slips if "scarce" in one), None)
    if slip is None:
        return []
    share, label = float(slip["scarce"]), int(slip["label"])
    return [
        Hypothesis(
            f"Only {say_number(100 * share)} % of the samples are of class {label}{say_line(slip.get('source'))}",
            0.7,
            "All samples count alike, so the loss comes down nearly all the way when every sample gets the same "
            "answer: the other class. The accuracy is high all the while. In a small batch there is often no sample of "
            f"class {label} at all.",
            "Weigh the classes, or draw samples of both about as often. Judge by precision and recall, not accuracy.",
            SCARCE_CODE.format(label=label, other=1 - label, weight=say_number(min(round((1 - share) / share), 100))),
        )
    ]


def _advise_parts(scene: Scene) -> list[Hypothesis]:
    """What a loss that fell may have fallen by, where the outputs have nothing to do with it."""
    loss = scene.testimony.known.read_loss()
    if loss.initial is None or loss.recent is None or not loss.recent <= FALLEN_SHARE * loss.initial:
        return []
    return [
        Hypothesis(
            "The loss falls by something else than better predictions",
            0.55,
            f"It came down from {say_number(loss.initial)} to {say_number(loss.recent)} while the outputs follow "
            "nothing: a mean that is learned first, a penalty, or a weight that the training itself lowers do that.",
            "Look at the parts of the loss one by one: which of them falls?",
            PARTS_CODE,
        )
    ]
