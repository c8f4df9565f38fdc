"""The health engine: statistics in, findings out. Pure numpy; owns no file, socket, thread or clock.

    Baseline        an earlier, healthy run that a run is held against; a Course is one of its losses
    Engine          takes rows of statistics and scalars, in any batch sizes, and holds the findings
    Finding         what went wrong, since which step, where, with evidence
    Hypothesis      one possible cause, with its fix as words and as code
    Setup           how a training is set up beside its tensors: what is not trained, the optimizer's settings

Inside, a *rule* (one module a kind) watches one stream and reports *episodes*; `incident` folds the episodes that
belong together under the one that came first; `verdict` puts the leading one into words. Feeding the same rows in
other batch sizes gives the same findings.
"""

from gradwatch_server.health.baseline import Baseline, Course
from gradwatch_server.health.engine import Engine
from gradwatch_server.health.finding import Finding, Hypothesis
from gradwatch_server.health.setup import Setup

__all__ = ["Baseline", "Course", "Engine", "Finding", "Hypothesis", "Setup"]
