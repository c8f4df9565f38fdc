"""Slips that the graph of a step shows: each module knows one, and its first line says which."""
