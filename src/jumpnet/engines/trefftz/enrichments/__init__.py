"""Functions beyond those of smooth pieces: corner singularities, Bessel functions, poles beyond walls."""
