"""Engines: each takes a problem and an error that will do, and hands back a solution and what it knows of its error."""
