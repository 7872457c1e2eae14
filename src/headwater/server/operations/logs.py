"""Logs on stderr, as text for people or one JSON object a line; also the logs of libraries."""

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from headwater.redaction import redact, redact_json

FORMATS = ("text", "json")


def configure(log_format: str) -> None:
    """Configure logging for this process.

    Args:
        log_format: one of `FORMATS`.
    """
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(allow=())],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(log_format)],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _renderers(log_format: str) -> list[Processor]:
    if log_format == "json":
        return [structlog.processors.format_exc_info, _without_secrets, structlog.processors.JSONRenderer()]
    # A plain traceback: a rich one shows the values of variables, keys and events among them.
    plain = structlog.dev.plain_traceback
    renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)
    return [lambda logger, name, event: redact(renderer(logger, name, event))]


def _without_secrets(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    redacted: EventDict = redact_json(event)
    return redacted
