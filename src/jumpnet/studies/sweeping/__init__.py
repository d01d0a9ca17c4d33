"""`sweep`: a family of problems, solved for many values of its parameters."""
