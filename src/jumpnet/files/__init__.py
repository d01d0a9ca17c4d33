"""Problem files: a domain, materials, conditions and wanted outputs in TOML, checked and never executed.

`read_problem(path)` gives the `Problem`, `read_file(path)` everything that the file asks for.
"""

from jumpnet.files.problemfile import ProblemFile, read_file, read_problem

__all__ = ["ProblemFile", "read_file", "read_problem"]
