"""Linear algebra below models and optimisers: block QR by cell, orderings, normal equations, LAPACK."""
