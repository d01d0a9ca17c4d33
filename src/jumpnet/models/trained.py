"""What trained networks have in common, as opposed to frozen features."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jumpnet.models.shallow import Shallow


class Trained:
    """A network whose functions are trained; its cells are the pieces."""

    cells: int

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return self.cells

    @property
    def expansion(self) -> None:
        """None: u is no expansion in functions known beforehand."""
        return None

    @property
    def shallow(self) -> Shallow | None:
        """The network, if it has one hidden layer and labels; None of others."""
        return None
