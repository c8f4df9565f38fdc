"""What every test needs before anything is imported, and what it leaves behind."""

import gc
import os
import sys

import pytest

# Read when TensorFlow is first imported: its banner about instructions of the processor is no news here.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# A developer's own settings must not leak into the tests.
for name in [name for name in os.environ if name.startswith("GRADWATCH_")]:
    del os.environ[name]


TRACES_MAX = 20
"""Custom gradients that may be left."""


_frozen: list[bool] = []
"""Not empty once anything is frozen: `gc.get_freeze_count` counts object by object, for a third of a second."""


@pytest.fixture(autouse=True)
def _forgotten_traces():
    """Lets the traces of a test go.

    TensorFlow registers each custom gradient (a cross-entropy has one) for the life of the process, and with it the
    graph in which it stands. After a thousand trainings a process holds gigabytes of them, and a collection of garbage
    stops it for half a minute, wherever a test happens to wait. What survives here is frozen (imports, and what Keras,
    TensorFlow and the hook keep of traced functions, a million objects by the end): a collection within a test looks
    through what was made since, which takes a moment.
    """
    yield
    ops = sys.modules.get("tensorflow.python.framework.ops")
    if ops is None:
        return
    registered = ops.gradient_registry._registry
    left = [name for name in registered if name.startswith("CustomGradient-")]
    if len(left) >= TRACES_MAX:
        for name in left:
            del registered[name]
    if len(left) >= TRACES_MAX or not _frozen:
        gc.collect()
        gc.freeze()
        _frozen.append(True)
