"""Pieces cut into cells."""
