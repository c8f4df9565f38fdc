"""Slips: mistakes of a training that show in its own graph, lines, models and data, before any number does."""
