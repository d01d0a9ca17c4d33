"""The least-squares system of a network on nonlinear rows, linearised anew wherever it is asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jumpnet.errors import ModelError
from jumpnet.models.system import Network, System, site_values
from jumpnet.rows import Layout, Rows, Sites

Values = Float[np.ndarray, " probes"]


class NonlinearSystem:
    """What optimisers see of a network on nonlinear rows: residuals, and derivatives about the parameters themselves.

    Args:
        network: The network.
        first: Weighted rows about some state, in the coordinates of the network.
        layout: That of the rows about any state.
        probes: u and its derivatives at the sites, in the coordinates of the network.
        about: The weighted rows about a state, in the coordinates of the network, from the values of
            the probes.
    """

    def __init__(self, network: Network, first: Rows, layout: Layout, probes: Sites, about: Callable[[Values], Rows]):
        self.network, self.rows = network, first
        self._probes, self._about = probes, about
        self._linear = System(network, first, layout)
        self._last: tuple[bytes, System] | None = None

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.network.size

    @property
    def terms(self) -> tuple[str, ...]:
        """The conditions that the rows state, as reports call them."""
        return self.rows.labels

    @property
    def output(self) -> Int[np.ndarray, " outputs"]:
        """Where in theta the output weights are: about a state, the rows are linear in them."""
        return self._linear.output

    def residual(self, theta: Float[np.ndarray, " parameters"]) -> Float[np.ndarray, " rows"]:
        """Weighted residual of every equation."""
        return self._at(theta).residual(theta)

    def linearised(self, theta: Float[np.ndarray, " parameters"]) -> tuple[np.ndarray, Any]:
        """Weighted residual and Jacobian."""
        return self._at(theta).linearised(theta)

    def output_columns(self, theta: Float[np.ndarray, " parameters"]) -> tuple[np.ndarray, np.ndarray]:
        """Weighted residual and its derivatives by the output weights."""
        return self._at(theta).output_columns(theta)

    def loss_of_terms(self, residual: Float[np.ndarray, " rows"]) -> Float[np.ndarray, " terms"]:
        """The loss, family by family."""
        return self._linear.loss_of_terms(residual)

    def objective(self) -> Any:
        """Refused: the equations are not known to JAX."""
        raise ModelError(
            "nonlinear equations are trained by Levenberg-Marquardt, which linearises them at each step; "
            "leave optimizer out, or give jn.optim.LevenbergMarquardt(...)."
        )

    def _at(self, theta: Float[np.ndarray, " parameters"]) -> System:
        """The linear system about the network with these parameters; the last one is kept."""
        key = np.asarray(theta, float).tobytes()
        if self._last is None or self._last[0] != key:
            values = site_values(self.network, theta, self._probes)
            self._last = key, self._linear.with_coefficients(self._about(values))
        return self._last[1]
