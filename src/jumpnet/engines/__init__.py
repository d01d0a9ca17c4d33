"""Engines: each takes a problem and a tolerance, and returns a solution with an estimate of its error."""
