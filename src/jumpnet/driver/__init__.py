"""The driver: the only place that decides and loops."""

from jumpnet.driver.effective import effective_tensor
from jumpnet.driver.solving import approximate, solve

__all__ = ["approximate", "effective_tensor", "solve"]
