"""Finite elements: meshes of a partition, spaces, assembly with data at integration points; results as plain arrays."""
