"""Meshes of a partition, fitted to its interfaces, as plain arrays."""
