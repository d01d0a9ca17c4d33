"""Foreign text, untrusted files, writing of files, limits of time and memory, Ctrl-C.

Nothing here imports NumPy or anything heavier, so that Ctrl-C is handled before the long imports begin.
"""
