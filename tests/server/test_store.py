"""The store: schema and migrations, the writer's groups, sparklines, databases that cannot be used."""

import sqlite3
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from gradwatch_server.errors import DatabaseError, NewerDatabaseError, SettingsError
from gradwatch_server.settings import read_settings
from gradwatch_server.store import Store
from gradwatch_server.store.database import open_engine
from gradwatch_server.store.migrate import migrate
from gradwatch_server.store.migrations import versions
from gradwatch_server.store.schema import metadata
from gradwatch_server.store.sparkline import EMPTY, POINT_LIMIT, add_points, read_sparkline

NEWEST = max(file.name[1:5] for file in Path(versions.__path__[0]).glob("v*.py"))
"""The newest revision, as the files of the migrations are numbered."""


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(read_settings(dir=tmp_path))
    yield opened
    opened.close()


def test_migrations_lead_to_the_schema_in_code(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'x.db'}", writes=True)
    migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    settings = read_settings(dir=tmp_path)
    for _ in range(2):
        Store(settings).close()
    with sqlite3.connect(tmp_path / "gradwatch.db") as connection:
        assert connection.execute("select version_num from alembic_version").fetchall() == [(NEWEST,)]
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_newer_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    settings = read_settings(dir=tmp_path)
    Store(settings).close()
    connection = sqlite3.connect(tmp_path / "gradwatch.db")
    connection.execute("update alembic_version set version_num = '0099'")
    connection.commit()
    connection.close()
    with pytest.raises(NewerDatabaseError, match=r"'0099'.*pip install -U 'gradwatch\[server\]'.*--database") as error:
        Store(settings)
    assert (error.value.found, error.value.expected) == ("0099", NEWEST)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but long enough to look at" * 40)
    with pytest.raises(DatabaseError, match="file is not a database"):
        Store(read_settings(database=str(file)))
    assert file.read_text().startswith("not a database")


@pytest.mark.parametrize("url", ["sqlite://", "mysql+nothing://x", "postgresql+nothing://host/db", "://"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="database: "):
        Store(read_settings(database=url))


def test_what_arrives_while_committing_is_committed_together(store: Store) -> None:
    entered, release = threading.Event(), threading.Event()

    def hold(connection) -> None:
        entered.set()
        release.wait(60)

    first = store.writer.submit(hold)
    assert entered.wait(60)
    transactions: list[Future] = [
        store.writer.submit(lambda connection: id(connection.get_transaction())) for _ in range(20)
    ]
    release.set()
    assert first.result(10) is None
    assert len({future.result(10) for future in transactions}) == 1


def test_a_bad_job_fails_alone(store: Store) -> None:
    entered, release = threading.Event(), threading.Event()
    store.writer.submit(lambda connection: (entered.set(), release.wait(60)))
    assert entered.wait(60)
    insert = "insert into workers (run_id, worker, last_seq) values ('nobody', 0, 0)"
    good = store.writer.submit(lambda connection: connection.execute(text("select 1")).scalar())
    bad = store.writer.submit(lambda connection: connection.execute(text(insert)))
    after = store.writer.submit(lambda connection: 3)
    release.set()
    assert (good.result(10), after.result(10)) == (1, 3)
    with pytest.raises(Exception, match="FOREIGN KEY"):
        bad.result(10)
    with store.read() as connection:
        assert connection.execute(text("select count(*) from workers")).scalar() == 0


def test_closing_drains_and_may_be_repeated(store: Store) -> None:
    futures = [store.writer.submit(lambda connection, i=i: i) for i in range(50)]
    store.close()
    store.close()
    assert [future.result(0) for future in futures] == list(range(50))
    with pytest.raises(DatabaseError, match="stopping"):
        store.writer.submit(lambda connection: None)


POINTS = st.lists(
    st.tuples(
        st.integers(0, 5000),
        st.none() | st.floats(-10, 10),
        st.sampled_from([None, None, None, "nan", "+inf", "-inf"]),
        st.none() | st.floats(0, 10),
    ),
    max_size=150,
)


@given(points=POINTS, cut=st.integers(0, 150))
def test_a_sparkline_is_bounded_and_hides_no_state(points: list, cut: int) -> None:
    sparkline = add_points(add_points(EMPTY, points[:cut]), points[cut:])
    lists = read_sparkline(sparkline)
    assert len(lists["loss"]) == len(lists["loss_state"]) == len(lists["gradient_norm"]) <= POINT_LIMIT
    assert [point[0] for point in sparkline["points"]] == sorted({p[0] // sparkline["stride"] for p in points})
    ranks = [None, "-inf", "+inf", "nan"]
    worst = max((point[2] for point in points), key=ranks.index, default=None)
    assert max(lists["loss_state"], key=ranks.index, default=None) == worst
    norms = [point[3] for point in points if point[3] is not None]
    assert max((norm for norm in lists["gradient_norm"] if norm is not None), default=None) == max(norms, default=None)


def test_a_database_of_the_first_schema_is_brought_up_with_its_data(tmp_path: Path) -> None:
    file = tmp_path / "gradwatch.db"
    engine = open_engine(f"sqlite:///{file}", writes=True)
    migrate(engine, to="0001")
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "insert into runs (id, name, project, state, started_at, tags, config, environment, n_rows_lost, "
            "n_skipped, level, n_findings, sparkline) "
            "values ('old', 'old', 'p', 'finished', 1.7e9, '[]', '{}', '{}', 0, 0, 'healthy', 0, '{}')"
        )
        connection.exec_driver_sql("insert into workers values ('old', 0, 0)")
        connection.exec_driver_sql("insert into streams values ('old', 0, 0, 'adam', '[]', '[]', -1)")
    engine.dispose()
    store = Store(read_settings(dir=tmp_path))
    assert store.columns.read("old").streams[0].table.operations == []
    store.close()
