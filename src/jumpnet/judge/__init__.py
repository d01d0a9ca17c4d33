"""The judge: solves for the error of any answer, from its residuals, by finite elements."""
