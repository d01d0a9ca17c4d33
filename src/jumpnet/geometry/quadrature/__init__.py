"""Quadrature on pieces, interfaces and boundaries of a partition."""
