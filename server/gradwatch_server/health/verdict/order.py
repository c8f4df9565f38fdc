"""A cause that many findings may have: data that come in order, so that a batch holds targets of nearly one kind."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gradwatch_server.health.episode import Episode, Flat, Plateau, Vanishing
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.verdict.scene import Facts

__all__ = ["with_order"]

ORDERED_SHARE: Final = 0.5
"""From here on more of what tells targets apart lies between batches than within them. Of shuffled data it is one
part in as many as a batch has samples."""

_TROUBLES: Final = (Flat, Plateau, Vanishing)
"""What comes of learning one kind after another: units that die, a loss that stands, gradients that fade."""

_CODE: Final = """\
data = tf.data.Dataset.from_tensor_slices((x, y))
# before batch, with a buffer as large as the data
data = data.shuffle(len(x), reshuffle_each_iteration=True)
data = data.batch(32)

# of files: shuffle the list of all of them, and only then read
files = tf.data.Dataset.list_files("data/*/*", shuffle=True)"""


def with_order(finding: Finding, lead: Episode, facts: Facts) -> Finding:
    """A finding with the order of the data among its causes, where they come in one."""
    order = facts.orders.get(max(lead.stream, 0))
    if order is None or not isinstance(lead, _TROUBLES):
        return finding
    share, n_samples, is_label = order.read()
    if not share > ORDERED_SHARE:
        return finding
    cause = Hypothesis(
        "The data come in order: each batch holds targets of nearly one kind",
        # Series come in order by their nature, and what is learned of its own guesses drifts; labels do neither.
        0.85 if is_label else 0.3,
        f"{share:.0%} of the targets' variance lies between batches, and {1 - share:.0%} within them; of shuffled data "
        f"it would be at most {1 / n_samples:.0%} between batches of {n_samples:.0f}. A model that sees one kind at a "
        "time learns to answer with it, whatever the input, and forgets the kinds before.",
        "Shuffle all of the data before they are put into batches, anew in each epoch; a buffer that is smaller than "
        "the data mixes neighbours only.",
        _CODE,
    )
    causes = sorted((cause, *finding.hypotheses), key=lambda one: -one.confidence)
    return replace(finding, hypotheses=tuple(causes), evidence=finding.evidence | {"share_between_batches": share})
