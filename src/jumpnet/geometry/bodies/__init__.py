"""Shapes that are stated directly: boxes, balls, level sets, surface meshes, and what operators make of them."""
