"""What runs were told, side by side. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["compare_configs"]

Json = dict[str, Any]


def compare_configs(configs: Sequence[Json]) -> list[Json]:
    """One row for each setting of any run, what differs first; nested settings are joined by dots.

    Args:
        configs: each run's config.

    Returns:
        ``{"key", "values": [one for each run, None where it has none], "differs"}``.
    """
    flat = [_flatten(config) for config in configs]
    rows = []
    for key in dict.fromkeys(key for config in flat for key in config):
        values = [config.get(key) for config in flat]
        # True == 1 in Python, but not in a config.
        differs = any(repr(value) != repr(values[0]) for value in values)
        rows.append({"key": key, "values": values, "differs": differs})
    return sorted(rows, key=lambda row: not row["differs"])


def _flatten(config: Mapping[str, Any], prefix: str = "") -> Json:
    flat: Json = {}
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
