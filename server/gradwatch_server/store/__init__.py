"""Where runs are kept: SQLAlchemy over SQLite or PostgreSQL.

Store         opens the database, brings it to the newest schema, owns writer and caches
schema        the tables             migrate, migrations   from one schema to the next
writer        the one thread that writes, in grouped transactions
log           what is written        catalogue             what is read of runs
columns       frames as arrays       numbers, reduce       what the page draws, down-sampled
inputs        what entered the steps findings              the engine's word, and a person's on it
sparkline     a run in sixty points
"""

from gradwatch_server.store.catalogue import RunFilter
from gradwatch_server.store.numbers import SCALAR, UPDATE_RATIO, Place, StepRange
from gradwatch_server.store.store import Store

__all__ = ["SCALAR", "UPDATE_RATIO", "Place", "RunFilter", "StepRange", "Store"]
