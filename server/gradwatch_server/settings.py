"""What the server can be told: one frozen record, read from the environment, nothing global.

Every field has its unit, its default and a word of help, which ``gradwatch serve --help`` and the
documentation repeat. Precedence: argument over environment (``GRADWATCH_`` and the field's name) over default.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from gradwatch.protocol import MESSAGE_SIZE_LIMIT_BYTES
from gradwatch_server.errors import SettingsError

__all__ = ["DEFAULT_PORT", "Settings", "read_settings"]

DEFAULT_PORT = 8470
SECRETS = ("token", "smtp_url")
"""What no message repeats."""


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
    public_url: str = Field(
        "", description="This server's address as people reach it, for links in alerts; default: that of host and port."
    )
    smtp_url: SecretStr | None = Field(
        None, description="Mail server for alerts: smtp://user:password@host:587, or smtps:// for TLS from the start."
    )
    smtp_from: str = Field("", description="Sender of alerts by e-mail; default: the mail server's user.")
    alert_timeout_s: float = Field(10.0, gt=0, description="Seconds that one delivery of an alert may take in all.")
    alert_retry_s: float = Field(
        5.0, gt=0, description="Seconds before the second try of an alert; each further wait is twice as long."
    )

    @field_validator("public_url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError("expected an address such as https://gradwatch.example.com")
        return url.rstrip("/")

    @field_validator("smtp_url")
    @classmethod
    def _is_mail_server(cls, url: SecretStr | None) -> SecretStr | None:
        parts = urlsplit(url.get_secret_value() if url else "smtp://localhost")
        try:
            is_right = parts.scheme in {"smtp", "smtps"} and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            is_right = False
        if not is_right:
            raise ValueError("expected smtp://user:password@host:587, or smtps://")
        return url

    @property
    def mail_url(self) -> str | None:
        """The mail server with its password, or None."""
        return self.smtp_url.get_secret_value() or None if self.smtp_url else None

    @property
    def mail_sender(self) -> str:
        """Who alerts by e-mail come from."""
        parts = urlsplit(self.mail_url or "")
        user = unquote(parts.username or "")
        return self.smtp_from or (user if "@" in user else f"gradwatch@{parts.hostname or 'localhost'}")

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
        found = "a secret that is no use" if name in SECRETS else repr(first["input"])
        text = f"{source}: found {found}. {first['msg']}. {_help(name)}"
        raise SettingsError("invalid_setting", text, {"setting": name}) from error


def _help(name: str) -> str:
    field = Settings.model_fields.get(name)
    return field.description or "" if field else ""
