"""Brings a database to the newest schema, and refuses one that is newer than the code."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from gradwatch_server.errors import NewerDatabaseError

__all__ = ["migrate"]


def migrate(engine: Engine, to: str = "head") -> None:
    """Runs the migrations that the database still lacks, in one transaction.

    Args:
        engine: the engine that writes.
        to: the revision to stop at; an older one is for tests of the steps.

    Raises:
        NewerDatabaseError: the database has a schema that this code does not know.
    """
    config = Config()
    config.set_main_option("script_location", "gradwatch_server.store:migrations")
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    newest = scripts.get_current_head()
    with engine.begin() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
        if found == newest:
            return
        if found is not None and found not in {script.revision for script in scripts.walk_revisions()}:
            raise NewerDatabaseError(found, str(newest), engine.url.render_as_string(hide_password=True))
        config.attributes["connection"] = connection
        command.upgrade(config, to)
