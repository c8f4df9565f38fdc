"""Every slip that is looked for beside the graph of a step. Owns no state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradwatch.slips.script.aliased import find_aliased
from gradwatch.slips.script.averaged import find_copied, find_lost, find_replaced
from gradwatch.slips.script.backbones import find_backbones
from gradwatch.slips.script.bgr import find_bgr
from gradwatch.slips.script.built import find_built
from gradwatch.slips.script.bunched import find_bunched
from gradwatch.slips.script.class_weights import find_class_weights
from gradwatch.slips.script.ends import find_unread_ends
from gradwatch.slips.script.explored import find_explored
from gradwatch.slips.script.folds import find_folds
from gradwatch.slips.script.grown import find_grown
from gradwatch.slips.script.held_out import find_held_out
from gradwatch.slips.script.integers import find_integers
from gradwatch.slips.script.jittered import find_jittered
from gradwatch.slips.script.late import find_late
from gradwatch.slips.script.mispaired import find_mispaired
from gradwatch.slips.script.outside import find_outside
from gradwatch.slips.script.parted import find_parted
from gradwatch.slips.script.refitted import find_renumbered
from gradwatch.slips.script.reported import find_reported
from gradwatch.slips.script.resized import find_resized
from gradwatch.slips.script.resplit import find_resplit
from gradwatch.slips.script.restarted import find_restarted
from gradwatch.slips.script.returns import find_past
from gradwatch.slips.script.rotated import find_rotated
from gradwatch.slips.script.scaled import find_scaled
from gradwatch.slips.script.served import find_batches, find_served
from gradwatch.slips.script.severed import find_severed
from gradwatch.slips.script.siblings import find_siblings
from gradwatch.slips.script.sole_label import find_sole_label, find_usual_target
from gradwatch.slips.script.stateful import find_stateful
from gradwatch.slips.script.thawed import find_thawed
from gradwatch.slips.script.topped import find_topped
from gradwatch.slips.script.turned import find_turned
from gradwatch.slips.script.uncalled import find_uncalled
from gradwatch.slips.script.unmasked import find_unmasked
from gradwatch.slips.script.unpacked import find_unpacked
from gradwatch.slips.script.untaped import find_untaped
from gradwatch.slips.script.unused import find_unused
from gradwatch.slips.script.withheld import find_withheld

__all__ = ["find_in_models", "find_in_script"]

Finder = Callable[[], Iterable[dict[str, Any]]]
Tried = Callable[[Finder], list[dict[str, Any]]]


def find_in_models(models: Sequence[Any], files: Sequence[str], tried: Tried) -> list[dict[str, Any]]:
    """What models are built of that tells of a slip.

    Args:
        models: the watched models.
        files: the user's files that are looked at.
        tried: what calls each finder, and keeps the failure of one from the others.

    Returns:
        As each of the functions that are called here tells, in this order.
    """
    finders: list[Finder] = [
        lambda: find_built(models, files),
        lambda: find_severed(models),
        lambda: find_topped(models),
        lambda: find_uncalled(models, files),
        lambda: find_outside(models),
    ]
    return [one for find in finders for one in tried(find)]


def find_in_script(files: Sequence[str], models: Sequence[Any], tried: Tried) -> list[dict[str, Any]]:
    """What the user's lines, and the data that they feed, show of a slip.

    Args:
        files: as for `find_in_models`.
        models: likewise.
        tried: likewise.

    Returns:
        Likewise.
    """
    finders: list[Finder] = [
        lambda: find_restarted(files),
        lambda: find_resized(files),
        lambda: find_turned(files),
        lambda: find_integers(files),
        lambda: find_parted(files),
        lambda: find_stateful(models),
        find_class_weights,
        lambda: find_scaled(models, files),
        lambda: find_rotated(models, files),
        lambda: find_backbones(models, files),
        lambda: find_bgr(files),
        lambda: find_unmasked(models, files),
        lambda: find_thawed(models, files),
        lambda: find_withheld(files),
        lambda: find_replaced(files),
        lambda: find_copied(files),
        lambda: find_lost(files),
        lambda: find_past(files),
        lambda: find_unread_ends(files),
        lambda: find_explored(files),
        lambda: find_grown(files),
        lambda: find_unpacked(files),
        lambda: find_untaped(files),
        lambda: find_bunched(files),
        find_held_out,
        find_jittered,
        find_sole_label,
        find_usual_target,
        lambda: find_mispaired(files),
        lambda: find_resplit(files),
        lambda: find_renumbered(files),
        lambda: find_folds(files),
        lambda: find_siblings(files),
        lambda: find_unused(files, models),
        lambda: find_reported(files),
        lambda: find_late(files),
        lambda: find_aliased(files),
        lambda: find_served(files),
        find_batches,
    ]
    return [one for find in finders for one in tried(find)]
