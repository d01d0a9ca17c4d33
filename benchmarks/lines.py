"""Lines of code of the package, without docstrings, comments and blank lines, by folder.

    .venv/bin/python -m benchmarks.lines [REVISION ...]

Counts the files of git revisions (by default HEAD): lines that hold a token other than a comment or a docstring.
"""

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    """The number of lines with code."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(code)


def git(*arguments: str) -> str:
    """What a git command prints."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Count and print."""
    for revision in sys.argv[1:] or ["HEAD"]:
        found: Counter[str] = Counter()
        files = git("ls-tree", "-r", "--name-only", revision, "src").splitlines()
        for name in files:
            if name.endswith(".py"):
                found[name.split("/")[2]] += code_lines(git("show", f"{revision}:{name}"))
        print(f"{revision}: {sum(found.values()):,} lines of code in {sum(n.endswith('.py') for n in files)} files")
        print("  " + ", ".join(f"{folder} {count:,}" for folder, count in found.most_common()))


if __name__ == "__main__":
    main()
