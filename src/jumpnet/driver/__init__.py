"""The driver: the only place that decides and loops."""

from jumpnet.driver.solving import approximate, solve

__all__ = ["approximate", "solve"]
