"""Adaptive Trefftz least squares: functions that solve the equation in a piece, enriched where residuals are large."""
