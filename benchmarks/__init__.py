"""Measurements of cost. Never run as tests."""
