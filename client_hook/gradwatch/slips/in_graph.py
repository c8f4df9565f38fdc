"""Every slip that is looked for in the graph of a step. Owns no state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, Final

from gradwatch.contrast import find_contrasts
from gradwatch.slips.graph.attracted import find_attracted, find_margin
from gradwatch.slips.graph.averse import find_averse, find_belittled, find_certain, find_unnegated
from gradwatch.slips.graph.backwards import find_backwards
from gradwatch.slips.graph.blank import find_blank
from gradwatch.slips.graph.bootstrap import find_greedy, find_unended, find_unfollowed, find_unstopped
from gradwatch.slips.graph.capped import find_bounded, find_capped, find_clipped
from gradwatch.slips.graph.conditioned import find_conditions
from gradwatch.slips.graph.cosines import find_cooled, find_handicapped, find_negated, find_repelled
from gradwatch.slips.graph.crossing import find_crossings
from gradwatch.slips.graph.crosswise import find_crosswise
from gradwatch.slips.graph.derived import find_summed
from gradwatch.slips.graph.detached import find_detached
from gradwatch.slips.graph.distilled import find_one_tempered, find_taught
from gradwatch.slips.graph.exchanged import find_exchanged
from gradwatch.slips.graph.focal import find_focal
from gradwatch.slips.graph.gathered import find_dropped, find_emptying, find_gathered
from gradwatch.slips.graph.heads import find_heads
from gradwatch.slips.graph.joined import find_joined
from gradwatch.slips.graph.latent import find_codes, find_one_sided, find_spread, find_widened
from gradwatch.slips.graph.least import find_least
from gradwatch.slips.graph.linear import find_linear
from gradwatch.slips.graph.lone import find_lone
from gradwatch.slips.graph.mask import find_ahead, find_inverted, find_onward, find_single
from gradwatch.slips.graph.masked import find_masked
from gradwatch.slips.graph.misapplied import (
    find_doubled,
    find_hinge,
    find_improbable,
    find_over_batch,
    find_relative,
    find_scores,
    find_sole,
    find_straight,
    find_twice,
    find_unreduced,
)
from gradwatch.slips.graph.mixture import find_marginals
from gradwatch.slips.graph.neighbours import find_messages, find_returned
from gradwatch.slips.graph.normed import find_dotted, find_normed
from gradwatch.slips.graph.opposed import find_opposed
from gradwatch.slips.graph.overlap import find_overlap
from gradwatch.slips.graph.padded import find_ends
from gradwatch.slips.graph.paired import find_pairs, find_twins
from gradwatch.slips.graph.peeking import find_peeking
from gradwatch.slips.graph.penalty import find_unadded, find_unpenalised
from gradwatch.slips.graph.quantile import find_quantile
from gradwatch.slips.graph.ratio import find_climbing, find_inverse
from gradwatch.slips.graph.redrawn import find_redrawn
from gradwatch.slips.graph.repeated import find_repeated
from gradwatch.slips.graph.reshapes import find_reshapes
from gradwatch.slips.graph.rounded import find_rounded
from gradwatch.slips.graph.shifted import find_shifts
from gradwatch.slips.graph.signs import is_descended
from gradwatch.slips.graph.survival import find_left
from gradwatch.slips.graph.tiled import find_tiled
from gradwatch.slips.graph.timed import find_timed
from gradwatch.slips.graph.towers import find_towers
from gradwatch.slips.graph.truncated import find_truncated
from gradwatch.slips.graph.undetached import find_cancelled, find_swapped, find_undetached, find_unpassed
from gradwatch.slips.graph.undropped import find_undropped
from gradwatch.slips.graph.unordered import find_by_sample, find_unordered
from gradwatch.slips.graph.unpriced import find_unpriced
from gradwatch.slips.graph.unscaled import find_unscaled
from gradwatch.slips.graph.unshown import find_faint, find_unshown
from gradwatch.slips.graph.unvaried import find_unvaried
from gradwatch.slips.graph.views import find_views
from gradwatch.slips.graph.waves import find_waves
from gradwatch.slips.graph.weighed import find_misweighed
from gradwatch.way import find_way, is_gradient, place_of

__all__ = ["find_in_graph"]

Tensor = Any  # tensorflow ships no types

SLIPS_MAX: Final = 4


def find_in_graph(
    gradients: Sequence[Any],
    loss: Tensor | None,
    layer_paths: Sequence[str],
    outputs: Sequence[Tensor] = (),
    trained: Set[int] = frozenset(),
    *,
    penalised: Mapping[int, str] = MappingProxyType({}),
    added: Sequence[tuple[str, Tensor]] = (),
    models: Sequence[Any] = (),
    dropouts: Sequence[str] = (),
    files: Sequence[str] = (),
    tried: Callable[[Callable[[], list[dict[str, Any]]]], list[dict[str, Any]]] = lambda find: find(),
) -> dict[str, list[dict[str, Any]]]:
    """Slips on the way to the loss, as the fields ``broadcasts``, ``reshapes`` and ``slips`` of ``tensors`` have them.

    Args:
        gradients: symbolic tensors, `tf.IndexedSlices` or None, as given to ``apply``.
        loss: the step's loss in the same graph, or None.
        layer_paths: the Keras paths of the watched models' layers.
        outputs: those that the step compares with a target each, as far as they are known.
        trained: the handles of the variables that the step trains.
        penalised: those of them that have a regularizer, with their names.
        added: what the layers add to a loss, with their paths.
        models: the watched models.
        dropouts: the paths of dropouts that the step is to go through.
        files: the user's files that are looked at.
        tried: what calls each finder, and keeps the failure of one from the others.

    Returns:
        As each of the functions that are called here tells, in the order in which they run.
    """
    way = find_way(gradients, loss)
    forward = sorted((op for op in way.values() if not is_gradient(op)), key=place_of)
    whole = sorted(find_way([], loss).values(), key=place_of)  # with gradients that are part of the loss
    least = loss if is_descended(gradients) else None  # what is made small
    finders: list[Callable[[], list[dict[str, Any]]]] = [
        lambda: find_inverted(forward, layer_paths),
        lambda: find_ahead(forward, layer_paths),
        lambda: find_onward(forward, layer_paths),
        lambda: find_single(forward, layer_paths),
        lambda: find_detached(forward, layer_paths),
        lambda: find_capped(forward, layer_paths),
        lambda: find_bounded(forward, layer_paths),
        lambda: find_backwards(forward, layer_paths),
        lambda: find_repeated(forward, outputs, layer_paths),
        lambda: find_joined(forward, layer_paths),
        lambda: find_redrawn(forward),
        lambda: find_unended(forward),
        lambda: find_gathered(forward, layer_paths),
        lambda: find_dropped(forward, layer_paths),
        lambda: find_unshown(forward, layer_paths),
        lambda: find_unvaried(forward, layer_paths),
        lambda: find_attracted(loss, trained),
        lambda: find_margin(forward),
        lambda: find_undetached(forward),
        lambda: find_cancelled(forward, layer_paths),
        lambda: find_swapped(forward, layer_paths),
        lambda: find_focal(forward, layer_paths),
        lambda: find_sole(forward, layer_paths),
        lambda: find_linear(outputs, layer_paths),
        lambda: find_messages(forward, layer_paths),
        lambda: find_returned(forward, layer_paths),
        lambda: find_misweighed(forward, outputs, layer_paths),
        lambda: find_by_sample(forward, layer_paths),
        lambda: find_unordered(forward, outputs, layer_paths),
        lambda: find_waves(forward, layer_paths),
        lambda: find_normed(forward, outputs, layer_paths),
        lambda: find_dotted(forward, outputs, layer_paths),
        lambda: find_lone(forward, layer_paths),
        lambda: find_clipped(forward, layer_paths),
        lambda: find_doubled(forward, outputs, layer_paths),
        lambda: find_straight(whole, layer_paths),
        lambda: find_scores(forward, layer_paths),
        lambda: find_improbable(forward, layer_paths),
        lambda: find_over_batch(forward, layer_paths),
        lambda: find_crosswise(forward, outputs, layer_paths),
        lambda: find_unreduced(loss, outputs),
        lambda: find_relative(forward, layer_paths),
        lambda: find_hinge(forward, layer_paths),
        lambda: find_rounded(forward, layer_paths),
        lambda: find_truncated(forward, layer_paths),
        lambda: find_conditions(forward, trained, layer_paths),
        lambda: find_summed(whole, layer_paths),
        lambda: find_left(forward, layer_paths),
        lambda: find_one_sided(forward, layer_paths),
        lambda: find_codes(forward, layer_paths),
        lambda: find_spread(forward, least, layer_paths),
        lambda: find_widened(forward, least, layer_paths),
        lambda: find_inverse(forward, layer_paths),
        lambda: find_climbing(forward, least, layer_paths),
        lambda: find_overlap(forward, least, layer_paths),
        lambda: find_greedy(forward),
        lambda: find_unfollowed(forward),
        lambda: find_unstopped(forward, trained),
        lambda: find_cooled(forward, layer_paths),
        lambda: find_handicapped(forward, layer_paths),
        lambda: find_negated(forward, layer_paths) or find_repelled(forward, least, layer_paths),
        lambda: find_averse(forward, least, layer_paths),
        lambda: find_quantile(forward, least, layer_paths),
        lambda: find_certain(forward, least, layer_paths),
        lambda: find_unnegated(forward, least, layer_paths),
        lambda: find_belittled(forward, least, trained, layer_paths),
        lambda: find_emptying(forward, layer_paths),
        lambda: find_pairs(forward, layer_paths),
        lambda: find_contrasts(forward, least, layer_paths),
        lambda: find_views(forward, layer_paths),
        lambda: find_twins(forward, layer_paths),
        lambda: find_blank(forward),
        lambda: find_shifts(forward),
        lambda: find_peeking(forward, outputs, layer_paths),
        lambda: find_ends(forward, layer_paths),
        lambda: find_masked(forward, layer_paths, files),
        lambda: find_heads(forward, layer_paths),
        lambda: find_least(forward, layer_paths),
        lambda: find_exchanged(forward, layer_paths),
        lambda: find_unpassed(forward, layer_paths),
        lambda: find_faint(forward, layer_paths),
        lambda: find_twice(forward, layer_paths),
        lambda: find_unscaled(forward, layer_paths),
        lambda: find_marginals(forward, layer_paths),
        lambda: find_tiled(forward, layer_paths),
        lambda: find_timed(forward, layer_paths),
        lambda: find_one_tempered(forward, trained, layer_paths),
        lambda: find_taught(forward, trained, layer_paths),
        lambda: find_towers(forward, trained, layer_paths),
        lambda: find_unpenalised(forward, penalised, layer_paths),
        lambda: find_unadded(forward, loss, added, layer_paths),
        lambda: find_unpriced(forward, trained, layer_paths),
        lambda: find_opposed(forward, layer_paths),
        lambda: find_undropped(forward, models, dropouts, layer_paths),
    ]
    return {
        "broadcasts": tried(lambda: find_crossings(forward, layer_paths))[:SLIPS_MAX],
        "reshapes": tried(lambda: find_reshapes(forward, layer_paths)),
        "slips": [one for find in finders for one in tried(find)],
    }
