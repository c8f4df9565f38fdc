"""Parts without TensorFlow, without a network."""
