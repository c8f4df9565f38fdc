"""The files that the browser runs, as package data."""
