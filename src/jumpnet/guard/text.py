"""Foreign text, made fit for a terminal, a page or an error message. Nothing else in the package cleans text."""

# Of a line: a report's longest lines have some hundred characters.
MOST_OF_A_LINE = 2000
# Of what is quoted in an error message.
QUOTED = 60


def clean(text: object, most: int = MOST_OF_A_LINE) -> str:
    """The text with everything that is not visible written as an escape, and lines of more than `most` shortened.

    Escape sequences, other control characters, marks that turn the direction of writing, and halves of surrogate pairs
    become \\u001b and the like, as JSON has them; line breaks and tabs stay.
    """
    return "\n".join(_line(line, most) for line in _str(text).split("\n"))


def one_line(text: object, most: int = MOST_OF_A_LINE) -> str:
    """The same on one line: every run of blanks and line breaks is a blank."""
    return _line(" ".join(_str(text).split()), most)


def shorten(value: object, limit: int = QUOTED) -> str:
    """`repr` of a user's value on one line, shortened for error messages."""
    try:
        shown = one_line(repr(value), max(4 * limit, MOST_OF_A_LINE))
    except (ValueError, RecursionError, MemoryError):  # an integer of thousands of digits, tables in tables
        shown = (
            "a number of very many digits" if isinstance(value, int) else f"a {type(value).__name__} not to be shown"
        )
    return shown if len(shown) <= limit else shown[: limit - 4] + "..." + shown[-1]


def spreadsheet(cell: object) -> object:
    """A cell of a CSV file: text that a spreadsheet would take for a formula gets an apostrophe in front."""
    if not isinstance(cell, str):
        return cell
    text = one_line(cell)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _str(text: object) -> str:
    try:
        return str(text)
    except (ValueError, RecursionError):  # an integer of thousands of digits, tables in tables
        return shorten(text)


def _line(line: str, most: int) -> str:
    if len(line) > most:  # before looking at each character: the line may have megabytes
        line = f"{line[: most - most // 4]}... ({len(line)} characters) ...{line[-(most // 4) :]}"
    return line if line.isprintable() else "".join(map(_visible, line))


def _visible(character: str) -> str:
    if character.isprintable() or character == "\t" or (character.isspace() and ord(character) > 0x2029):
        return character
    code = ord(character)
    return " " if code == 0xA0 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
