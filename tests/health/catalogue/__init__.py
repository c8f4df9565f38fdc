"""Small trainings, broken in the ways that the studies of real defects report, and healthy ones of every kind.

`broken.py` and `healthy.py` hold them, `play.py` trains one for real under the hook and asks the health engine, step by
step. ``python -m tests.health.catalogue`` plays all with several seeds and writes the table of ``docs/catalogue.md``.
"""
