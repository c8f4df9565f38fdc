"""What every test needs before anything is imported."""

import os

# Read when TensorFlow is first imported: its banner about instructions of the processor is no news here.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# A developer's own settings must not leak into the tests.
for name in [name for name in os.environ if name.startswith("GRADWATCH_")]:
    del os.environ[name]
