"""Which runs were deleted: what a hook still has of them is not taken back."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "deleted_runs",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("deleted_at", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deleted_runs"),
    )
