"""A view as one file that works by itself: the page that ``make page`` builds, with the view's document inside."""

import json
from html import escape
from pathlib import Path

from headwater.answers.documents import Document
from headwater.errors import SettingError

BUILT = Path(__file__).parents[1] / "server" / "page" / "dist"
"""The folder of the built page. It is data of the server, which is not imported: that needs packages of an extra."""

_BLOCK = '<script type="application/json" id="saved">'


def saved_page(view: Document, at: str) -> str:
    """Return an HTML file that shows a view: its script, styles and data inside, and nothing loaded from elsewhere.

    Its Content-Security-Policy runs that script alone, by its digest. Names and expressions are JSON that the script
    shows as text; without ``<`` they cannot end their block (HTML, section 4.12.1.3).

    Args:
        view: a document of ``GET /api/v2/view``.
        at: when the view was saved, ISO 8601.

    Raises:
        SettingError: this source tree has no built page.
    """
    template = BUILT / "saved.html"
    if not template.is_file():
        raise SettingError(f"There is no built page at {BUILT}: build it with `make page`, or install the wheel.")
    before, block, after = template.read_text(encoding="utf-8").partition(_BLOCK)
    # JSON's ASCII form has no characters that turn the direction of text in an editor, nor lone surrogates.
    text = json.dumps({"view": view, "at": at}, separators=(",", ":")).replace("<", "\\u003c")
    return "".join((before, block, text, after))


def framed_page(view: Document, at: str, title: str) -> str:
    """Return an HTML element that shows a view inside another page, as a notebook's.

    The frame has an origin of its own: its script reads nothing of the page around it. It may save files.

    Raises:
        SettingError: this source tree has no built page.
    """
    page = escape(saved_page(view, at))
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts allow-downloads" srcdoc="{page}" '
        'style="width: 100%; height: 480px; border: 0; resize: vertical"></iframe>'
    )
