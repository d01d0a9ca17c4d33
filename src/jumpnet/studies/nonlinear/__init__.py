"""Problems whose data depend on u: Newton's method, or a network trained on the nonlinear equations."""
