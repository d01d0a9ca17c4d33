"""The public call: which engine answers a problem, what the judge says of the answer, and what was tried."""

from jumpnet.solving.call import approximate, solve

__all__ = ["approximate", "solve"]
