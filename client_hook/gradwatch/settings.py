"""What the user set: arguments before environment before defaults. Owns no state."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gradwatch.errors import ConfigurationError

__all__ = ["CAPTURED_KINDS", "DEFAULT_URL", "KINDS_ON_REQUEST", "Settings", "resolve"]

DEFAULT_URL: Final = "http://127.0.0.1:8470"
CAPTURED_KINDS: Final = ("gradient", "weight", "update", "activation", "backprop", "input", "operation")
"""The kinds that the hook captures unless told otherwise."""
KINDS_ON_REQUEST: Final = ("slot",)
"""The kinds that it captures when asked for."""
ON_NONFINITE: Final = ("record", "skip", "raise")


@dataclass(frozen=True)
class Settings:
    """Everything that can be set, resolved.

    Attributes:
        url: the server's address, http or https.
        token: what the server asks for, or None.
        project: the project that the run belongs to.
        directory: where waiting rows are kept (``GRADWATCH_DIR``).
        is_disabled: ``GRADWATCH_DISABLED=1``: watch nothing.
        every: steps between full rows at the least.
        capture: the kinds to capture.
        on_nonfinite: what to do at a step with a non-finite gradient.
        budget: the share of step time that full rows may cost; 0 takes them at every step.
        name: the run's name, or None.
        config: the user's own description of the run (JSON values).
        tags: the run's tags.
    """

    url: str = DEFAULT_URL
    token: str | None = None
    project: str = "default"
    directory: Path = field(default_factory=lambda: Path.home() / ".gradwatch")
    is_disabled: bool = False
    every: int = 1
    capture: tuple[str, ...] = CAPTURED_KINDS
    on_nonfinite: str = "record"
    budget: float = 0.02
    name: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


def resolve(
    *,
    name: str | None = None,
    project: str = "default",
    config: Mapping[str, Any] | None = None,
    tags: Any = (),
    url: str | None = None,
    token: str | None = None,
    every: int = 1,
    capture: Any = CAPTURED_KINDS,
    on_nonfinite: str = "record",
    budget: float = 0.02,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Checks every argument of `gradwatch.watch` and fills in what the environment or the defaults say.

    Raises:
        ConfigurationError: a value that cannot be used; the message names it, what was found and what is expected.
    """
    environment = os.environ if environment is None else environment
    defaults = Settings()
    directory = environment.get("GRADWATCH_DIR")
    return Settings(
        url=_url(url or environment.get("GRADWATCH_URL") or defaults.url),
        token=_token(token or environment.get("GRADWATCH_TOKEN") or None),
        project=_project(_first(project, environment.get("GRADWATCH_PROJECT"), defaults.project)),
        directory=Path(directory).expanduser() if directory else defaults.directory,
        is_disabled=environment.get("GRADWATCH_DISABLED", "").lower() in ("1", "true", "yes"),
        every=_every(every),
        capture=_capture(capture),
        on_nonfinite=_choice("on_nonfinite", on_nonfinite, ON_NONFINITE),
        budget=_budget(budget),
        name=_name(name),
        config=_config(config),
        tags=_tags(tags),
    )


def _url(url: str) -> str:
    expected = f"the server's address, e.g. {DEFAULT_URL}"
    if not isinstance(url, str):
        raise ConfigurationError("url", url, expected)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ConfigurationError("url", url, expected) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError("url", url, expected)
    return url.rstrip("/")


def _token(token: str | None) -> str | None:
    if token is not None and not isinstance(token, str):
        raise ConfigurationError("token", f"a {type(token).__name__}", "the server's token, a text")
    return token


def _first(project: str, from_environment: str | None, default: str) -> str:
    # The argument's default is spelled out in the signature; it yields to the environment.
    return (from_environment or default) if project == default else project


def _project(project: str) -> str:
    if not isinstance(project, str) or not re.fullmatch(r"[\w.\- /]{1,100}", project):
        raise ConfigurationError("project", project, "1 to 100 letters, digits, spaces or . _ - /")
    return project


def _name(name: str | None) -> str | None:
    if name is not None and (not isinstance(name, str) or not 1 <= len(name) <= 200):
        raise ConfigurationError("name", name, "a text of 1 to 200 characters, or None")
    return name


def _every(every: int) -> int:
    if not isinstance(every, int) or isinstance(every, bool) or every < 1:
        raise ConfigurationError("every", every, "a whole number of steps, 1 or more")
    return every


def _budget(budget: float) -> float:
    if not isinstance(budget, (int, float)) or isinstance(budget, bool) or not 0 <= budget < 1:
        raise ConfigurationError("budget", budget, "a share of step time from 0 (no limit) to below 1, e.g. 0.02")
    return float(budget)


def _choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ConfigurationError(name, value, "one of " + ", ".join(map(repr, choices)))
    return value


def _capture(capture: Any) -> tuple[str, ...]:
    known = CAPTURED_KINDS + KINDS_ON_REQUEST
    if not isinstance(capture, Iterable):
        raise ConfigurationError("capture", capture, "some of " + ", ".join(map(repr, known)))
    kinds = (capture,) if isinstance(capture, str) else tuple(capture)
    for kind in kinds:
        _choice("capture", kind, known)
    if "gradient" not in kinds:
        raise ConfigurationError("capture", kinds, "kinds that include 'gradient', which is never left out")
    return tuple(kind for kind in known if kind in kinds)


def _config(config: Mapping[str, Any] | None) -> dict[str, Any]:
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        raise ConfigurationError("config", config, "a dict of settings, e.g. {'learning_rate': 1e-3}")
    return {str(key): _plain(value) for key, value in config.items()}


def _plain(value: Any) -> Any:
    """A JSON value; anything else becomes its text, so that no description of a run stops the run."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value)


def _tags(tags: Any) -> tuple[str, ...]:
    if not isinstance(tags, Iterable):
        raise ConfigurationError("tags", tags, "texts of 1 to 60 characters")
    checked: tuple[str, ...] = (tags,) if isinstance(tags, str) else tuple(tags)
    for tag in checked:
        if not isinstance(tag, str) or not 1 <= len(tag) <= 60:
            raise ConfigurationError("tags", tag, "texts of 1 to 60 characters")
    return checked
