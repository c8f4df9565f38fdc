"""The hook in real trainings."""
