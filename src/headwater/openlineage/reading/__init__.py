"""Events of any producer read into values: the reading half of the event format."""

from headwater.openlineage.reading.events import Event, event_of, packed, read_event
from headwater.openlineage.reading.json_values import in_parts, read_json

__all__ = ["Event", "event_of", "in_parts", "packed", "read_event", "read_json"]
