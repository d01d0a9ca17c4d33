"""The report of a solution as a page."""
