"""How often full statistics are taken, and of what; older runs tell nothing of it."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "captures",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Integer, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "worker", "seq", name="pk_captures"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_captures_runs", ondelete="CASCADE"),
    )
