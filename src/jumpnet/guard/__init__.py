"""Between the program and the world: foreign text, files of strangers, files of ours, limits, Ctrl-C.

Nothing here imports NumPy or anything heavier, so that Ctrl-C is in good hands before the long imports begin.
"""
