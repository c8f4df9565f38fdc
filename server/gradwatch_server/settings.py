"""What the server can be told: one frozen record, read from the environment, nothing global.

Every field has its unit, its default and a word of help, which ``gradwatch serve --help`` and the
documentation repeat. Precedence: argument over environment (``GRADWATCH_`` and the field's name) over default.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from gradwatch.protocol import MESSAGE_SIZE_LIMIT_BYTES
from gradwatch_server.errors import SettingsError

__all__ = ["DEFAULT_PORT", "Settings", "read_settings"]

DEFAULT_PORT = 8470


class Settings(BaseSettings):
    """Everything that can be set; see each field's help."""

    model_config = SettingsConfigDict(env_prefix="GRADWATCH_", frozen=True, extra="ignore", env_ignore_empty=True)

    host: str = Field("127.0.0.1", description="Address to listen on. Anything but loopback needs a token.")
    port: int = Field(DEFAULT_PORT, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    dir: Path = Field(
        Path("~/.gradwatch"), description="Directory of the default database, and of what waits for a server."
    )
    database: str = Field(
        "", description="SQLAlchemy URL of the database, or a file's path; default: gradwatch.db under dir."
    )
    token: SecretStr | None = Field(None, description="Secret that hooks and browsers must show; default: none.")
    insecure: bool = Field(False, description="Allow listening beyond loopback without a token.")
    allowed_origins: tuple[str, ...] = Field(
        (), description="Further origins (scheme://host[:port]) of pages that may talk to this server, as JSON list."
    )
    lost_contact_after_s: float = Field(
        10.0, ge=0, description="Seconds without a socket after which a live run is said to have lost contact."
    )
    live_interval_s: float = Field(
        0.25, gt=0, description="Shortest time in seconds between two messages on one run to one browser."
    )
    message_limit_bytes: int = Field(
        MESSAGE_SIZE_LIMIT_BYTES, gt=0, description="Largest websocket message in bytes; a larger one is refused."
    )
    inbox_limit_bytes: int = Field(
        32 * 1024 * 1024, gt=0, description="Bytes of one hook's messages held before its socket is no longer read."
    )
    cache_limit_bytes: int = Field(
        512 * 1024 * 1024, gt=0, description="Bytes of decoded columns kept in memory for the pages."
    )
    live_client_limit: int = Field(256, gt=0, description="Most browsers on /ws/live at a time.")

    @property
    def directory(self) -> Path:
        """``dir`` with ``~`` replaced."""
        return self.dir.expanduser()

    @property
    def database_url(self) -> str:
        """The database as a SQLAlchemy URL."""
        if "://" in self.database:
            return self.database
        path = Path(self.database).expanduser() if self.database else self.directory / "gradwatch.db"
        return f"sqlite:///{path.resolve()}"

    @property
    def is_loopback(self) -> bool:
        """Whether ``host`` can be reached from this machine only."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def secret(self) -> str | None:
        """The token in clear, or None."""
        return self.token.get_secret_value() or None if self.token else None


def read_settings(**arguments: Any) -> Settings:
    """Reads the settings from arguments and environment.

    Args:
        **arguments: fields of `Settings`; None means "not given".

    Returns:
        The settings.

    Raises:
        SettingsError: a value cannot be used; the message names the argument or the environment variable.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        source = f"--{name}" if name in given else f"GRADWATCH_{name.upper()}"
        text = f"{source}: found {first['input']!r}. {first['msg']}. {_help(name)}"
        raise SettingsError("invalid_setting", text, {"setting": name}) from error


def _help(name: str) -> str:
    field = Settings.model_fields.get(name)
    return field.description or "" if field else ""
