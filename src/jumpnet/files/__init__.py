"""Problem files: a domain, materials, conditions and wanted outputs in TOML, checked and never executed.

`read_problem(path)` gives the `Problem`, `read_file(path)` everything that the file asks for.
"""

from jumpnet.files.opening import read_file, read_problem
from jumpnet.files.problemfile import ProblemFile

__all__ = ["ProblemFile", "read_file", "read_problem"]
