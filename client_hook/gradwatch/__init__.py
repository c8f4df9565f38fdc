"""gradwatch: a live health monitor for the gradients of TensorFlow training."""

__version__ = "0.1.0"
