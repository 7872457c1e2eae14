"""The page at ``/``: the files that ``make page`` builds from ``web/`` into the folder ``dist`` beside this module.

They hold no lineage, so anybody may read them; the page asks ``/api/v2`` for all that it shows.
"""

from fastapi import APIRouter
from fastapi.responses import FileResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException

from headwater.answers.saved_page import BUILT

router = APIRouter(include_in_schema=False)

HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            "connect-src 'self'",
            "worker-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""The headers of each file: nothing of other hosts is loaded, and no other site's page may frame this one."""

_ANEW = {"Cache-Control": "no-cache"}
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # the name of a file has a hash of its content
_MISSING = (
    "This server has no page, because it runs from a source tree where none was built. Build it with `make page`, "
    "which needs Node 20 or later, or installs one. The API works without it: see /openapi.json and docs/api.md.\n"
)


@router.get("/")
def page() -> Response:
    """Return the page, or how to build it where that was not done."""
    index = BUILT / "index.html"
    if not index.is_file():
        return PlainTextResponse(_MISSING, 404, HEADERS)
    return FileResponse(index, headers=HEADERS | _ANEW)


@router.get("/saved.html")
def saved_page() -> Response:
    """Return the page in which the page at ``/`` saves a view, as text: by itself it shows nothing.

    Raises:
        HTTPException: 404, when no page was built.
    """
    file = BUILT / "saved.html"
    if not file.is_file():
        raise HTTPException(404, "This server has no page.")
    return PlainTextResponse(file.read_bytes(), headers=HEADERS | _ANEW)


@router.get("/assets/{name}")
def asset(name: str) -> Response:
    """Return a script, a style or an image of the page.

    Raises:
        HTTPException: 404, when the page has no such file.
    """
    file = BUILT / "assets" / name
    if file not in (BUILT / "assets").glob("*"):  # to look for a name may fail: it may be too long for one
        raise HTTPException(404, "The page has no such file: load it anew.")
    return FileResponse(file, headers=HEADERS | _FOREVER)
