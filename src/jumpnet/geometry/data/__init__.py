"""Shapes from data: drawings, surface meshes, label images and volumes."""
