"""The finding of a slip: of its place, and the words that are meant for its kind."""

from __future__ import annotations

from typing import Final

from gradwatch_server.health.episode import Misshaped
from gradwatch_server.health.finding import Finding
from gradwatch_server.health.verdict.scene import Scene, tell
from gradwatch_server.health.verdict.slips.attention import ATTENTION
from gradwatch_server.health.verdict.slips.built import BUILT
from gradwatch_server.health.verdict.slips.columns import COLUMNS
from gradwatch_server.health.verdict.slips.datasets import DATASETS
from gradwatch_server.health.verdict.slips.draws import DRAWS
from gradwatch_server.health.verdict.slips.images import IMAGES
from gradwatch_server.health.verdict.slips.line import Words
from gradwatch_server.health.verdict.slips.losses import LOSSES
from gradwatch_server.health.verdict.slips.networks import NETWORKS
from gradwatch_server.health.verdict.slips.order import ORDER
from gradwatch_server.health.verdict.slips.pairs import PAIRS
from gradwatch_server.health.verdict.slips.policies import POLICIES
from gradwatch_server.health.verdict.slips.sequences import SEQUENCES
from gradwatch_server.health.verdict.slips.shapes import SHAPES
from gradwatch_server.health.verdict.slips.unused import UNUSED

__all__ = ["tell_misshaped"]


def tell_misshaped(lead: Misshaped, scene: Scene) -> Finding:
    """The finding of one slip."""
    title, text, hypothesis = _WORDS[lead.what](lead)
    return tell(
        lead,
        scene,
        title=title,
        layer=lead.slip.get("layer") or None,
        source=dict(lead.slip["source"]) if lead.slip.get("source") else None,
        evidence=scene.evidence(text),
        hypotheses=[hypothesis],
        subject=str(lead.slip["name"]),
    )


_WORDS: Final[Words] = {
    **BUILT,
    **UNUSED,
    **IMAGES,
    **COLUMNS,
    **ORDER,
    **DATASETS,
    **SHAPES,
    **ATTENTION,
    **SEQUENCES,
    **POLICIES,
    **LOSSES,
    **PAIRS,
    **DRAWS,
    **NETWORKS,
}
