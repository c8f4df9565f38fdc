"""Words for slips, a module for each theme: a title, what was seen, and the cause."""
