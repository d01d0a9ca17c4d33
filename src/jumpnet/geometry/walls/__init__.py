"""Corners of walls, points where pieces meet, smooth closed walls."""
