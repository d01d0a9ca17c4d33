"""What families of the same coordinates have in common."""


class OfPlane:
    """Functions of two coordinates."""

    @property
    def inputs(self) -> int:
        """The number of coordinates."""
        return 2


class Circular(OfPlane):
    """Functions of the plane: a radial factor times cos(n t) or sin(n t), n = 0..degree."""

    degree: int

    @property
    def size(self) -> int:
        """The number of functions."""
        return 2 * self.degree + 1


class Spherical:
    """Functions of space: a radial factor times a spherical harmonic of degree 0..degree."""

    degree: int

    @property
    def inputs(self) -> int:
        """The number of coordinates."""
        return 3

    @property
    def size(self) -> int:
        """The number of functions."""
        return (self.degree + 1) ** 2
