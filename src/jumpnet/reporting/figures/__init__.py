"""Figures of solutions, one kind each file."""
