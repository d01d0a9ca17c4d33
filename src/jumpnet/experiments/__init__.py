"""The paper's experiments and the problems that the package is measured by."""
