"""Slips of what stands around a step: the user's own lines, the models they make, the data that they feed."""
