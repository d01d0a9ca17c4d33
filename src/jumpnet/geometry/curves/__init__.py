"""Closed plane curves: parametric curves, stars, paths of Bézier segments, splines."""
