"""The trainings of the demo, as a user writes them. Each runs alone (``python healthy.py``); none is imported."""
