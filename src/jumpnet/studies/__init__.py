"""Loops around `solve`: effective tensors."""

from jumpnet.studies.effective import effective_tensor

__all__ = ["effective_tensor"]
