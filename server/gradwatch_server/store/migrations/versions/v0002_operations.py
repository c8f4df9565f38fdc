"""The risky operations of a stream; those of older streams are none."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds the column."""
    op.add_column("streams", sa.Column("operations", sa.JSON, nullable=False, server_default="[]"))
