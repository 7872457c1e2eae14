"""Events of any producer read into values: the reading half of the event format."""

from headwater.openlineage.reading.events import Event, event_of, packed, read_event
from headwater.openlineage.reading.json_text import read_json
from headwater.openlineage.reading.shared_parts import in_parts

__all__ = ["Event", "event_of", "in_parts", "packed", "read_event", "read_json"]
