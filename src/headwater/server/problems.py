"""Errors as answers, in the form that Marquez gives."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from headwater.errors import (
    AmbiguousName,
    EventError,
    HeadwaterError,
    QuestionError,
    SettingError,
    StoreError,
    UnknownName,
)
from headwater.redaction import redact

STATUS: dict[type[HeadwaterError], int] = {
    UnknownName: 404,
    AmbiguousName: 409,
    QuestionError: 400,
    EventError: 400,
    SettingError: 400,
    StoreError: 503,
    HeadwaterError: 500,
}
RETRY = {"Retry-After": "5"}


def problem(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return the answer to a request that is refused or fails; ``code`` repeats the status."""
    return JSONResponse({"code": status, "message": redact(message)}, status, headers)


def install_handlers(app: FastAPI) -> None:
    """Answer every error in that form."""
    app.add_exception_handler(HeadwaterError, _of_headwater)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_request)


def _of_headwater(_: Request, fault: Exception) -> JSONResponse:
    status = next(STATUS[kind] for kind in type(fault).__mro__ if kind in STATUS)
    return problem(status, str(fault), RETRY if status == 503 else None)


def _of_http(_: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, HTTPException)
    return problem(fault.status_code, str(fault.detail), dict(fault.headers or {}))


def _of_request(_: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, RequestValidationError)
    return problem(422, "; ".join(_message(one) for one in fault.errors()))


def _message(error: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    return f"{place}: {error['msg']}"
