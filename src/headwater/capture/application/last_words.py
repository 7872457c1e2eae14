"""Deliver the last events of an application whose process ended without a word; started by its JVM.

``python -m`` with this module reads the settings, the transport and the events from standard input.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import attr

from headwater.capture.application.destinations import destination
from headwater.capture.settings import CaptureSettings
from headwater.model.time import iso, now
from headwater.openlineage.writing.events import read_event

COMMAND = (sys.executable, "-P", "-m", "headwater.capture.application.last_words")
ENDED = "The process of the program ended without a word: a signal, os._exit, or no memory left."
_SETTINGS = ("store", "events", "config")


def last_words(settings: CaptureSettings, transport: Mapping[str, Any], events: Sequence[str]) -> str:
    """The text that this module reads; its only home is the memory of the JVM, since URLs may hold passwords."""
    options = {name: getattr(settings, name) for name in _SETTINGS}
    return json.dumps([os.getcwd(), options, dict(transport), list(events)])


def main() -> None:
    """Deliver the events, or keep them where those of the application are kept."""
    folder, options, transport, events = json.load(sys.stdin)
    os.chdir(folder)
    delivery = destination(CaptureSettings(**options), transport)
    ended = iso(now())
    for line in events:
        delivery.deliver(attr.evolve(read_event(line), eventTime=ended))
    delivery.close()


if __name__ == "__main__":
    main()
