"""The driver: the only place that decides and loops."""

from jumpnet.driver.solve import approximate, solve

__all__ = ["approximate", "solve"]
