"""A cause that many findings may have: data that come in order, so that a batch holds targets that are alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gradwatch_server.health.episode import Episode, Ordered, Rate
from gradwatch_server.health.finding import Change, Finding, Hypothesis
from gradwatch_server.health.ordered import COMES_OF_ORDER, ORDERED_SHARE
from gradwatch_server.health.verdict.scene import Facts, Scene, tell
from gradwatch_server.health.verdict.spelling import say_step

__all__ = ["advise_order", "tell_ordered", "with_order"]

_CODE: Final = """\
# Arrays: fit shuffles them by itself, unless shuffle=False
model.fit(x, y, batch_size={n_samples:.0f}, shuffle=True)
# A data set: in place of any other shuffle, and before batch, with a buffer as large as the data
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch({n_samples:.0f})"""


def tell_ordered(lead: Ordered, scene: Scene) -> Finding:
    """The finding of labels that come in order."""
    cause = _advise_share(lead.share, lead.n_samples, is_label=True)
    title = "The data come in order: almost every batch holds a single class, and the next the same"
    if lead.closed_step is not None:
        title = f"The data came in order until {say_step(lead.closed_step)}: almost every batch held a single class"
    return tell(
        lead,
        scene,
        title=title,
        evidence=scene.evidence(
            f"Of the labels' variance {lead.share:.0%} lies between batches, and a batch is mostly like the one before "
            f"it. What the loss says of one class it does not say of the others.",
            share_between_batches=lead.share,
        ),
        hypotheses=[cause],
        subject="order of the data",
    )


def with_order(finding: Finding, lead: Episode, facts: Facts) -> Finding:
    """A finding with the order of the data among its causes, where they come in one."""
    order = facts.orders.get(max(lead.stream, 0))
    if order is None or not isinstance(lead, COMES_OF_ORDER):
        return finding
    share, n_samples, is_label = order.read()
    if not share > ORDERED_SHARE or (isinstance(lead, Rate) and not is_label):
        return finding
    cause = _advise_share(share, n_samples, is_label=is_label)
    causes = sorted((cause, *finding.hypotheses), key=lambda one: -one.confidence)
    return replace(finding, hypotheses=tuple(causes), evidence=finding.evidence | {"share_between_batches": share})


def _advise_share(share: float, n_samples: float, *, is_label: bool) -> Hypothesis:
    what = "labels" if is_label else "targets"
    # Series come in order by their nature, and what is learned of its own guesses drifts; labels do neither.
    return advise_order(
        f"{share:.0%} of the {what}' variance lies between batches; with shuffled data it would be at most "
        f"{1 / n_samples:.0%}",
        n_samples,
        confidence=0.85 if is_label else 0.3,
        is_label=is_label,
    )


def advise_order(measured: str, n_samples: float, *, confidence: float, is_label: bool) -> Hypothesis:
    """The cause, with what was measured of it, and the samples in a batch."""
    one = "a single class" if is_label else "targets of nearly one size"
    return Hypothesis(
        f"The data come in order: almost every batch holds {one}",
        confidence,
        f"The data are not shuffled, or not enough: almost every batch holds {one} ({measured}). The model learns "
        "what the present batches have in common and forgets the rest.",
        "Shuffle all of the data before they are put into batches; a shuffle buffer that is smaller than the data "
        "mixes neighbours only. Then train from the start.",
        _CODE.format(n_samples=n_samples),
        (Change("fit", instead=(("shuffle", "True"),)),),
    )
