"""Engines: each takes a problem and an error that will do, and hands back a solution with what it knows of its error."""
