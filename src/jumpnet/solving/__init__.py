"""The public call: chooses an engine, asks the judge, and sets the status."""

from jumpnet.solving.call import approximate, solve

__all__ = ["approximate", "solve"]
