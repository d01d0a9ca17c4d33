"""Text on a page: cleaned as for a terminal, and never markup."""

import html

from jumpnet.guard.text import clean


def escape(text: object) -> str:
    """The text as HTML: nothing in it is a tag, an entity, an escape sequence or longer than a page can bear."""
    return html.escape(clean(text))
