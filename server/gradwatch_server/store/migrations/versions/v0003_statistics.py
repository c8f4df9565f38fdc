"""The names of a stream's statistics; older streams have the first ten."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

FIRST_TEN = '["norm","min","max","mean","std","n_nan","n_pos_inf","n_neg_inf","n_zero","n_elements"]'


def upgrade() -> None:
    """Adds the column."""
    op.add_column("streams", sa.Column("statistics", sa.JSON, nullable=False, server_default=FIRST_TEN))
