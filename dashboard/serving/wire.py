"""How many parts a message has, counted on the bytes that arrived, before anything is made of them.

An empty part costs two bytes on the way and some forty in memory, so a message of some megabytes could fill a server.
Groups, which no message of a page has, are refused: who reads them goes on behind them, and what is inside is not ours.
"""

from __future__ import annotations

from google.protobuf.descriptor import Descriptor, FieldDescriptor

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_MESSAGE = FieldDescriptor.TYPE_MESSAGE
_WHOLE = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
_LEAST = {
    FieldDescriptor.TYPE_DOUBLE: 8,
    FieldDescriptor.TYPE_FIXED64: 8,
    FieldDescriptor.TYPE_SFIXED64: 8,
    FieldDescriptor.TYPE_FLOAT: 4,
    FieldDescriptor.TYPE_FIXED32: 4,
    FieldDescriptor.TYPE_SFIXED32: 4,
}
"""Bytes that one of many numbers in one field takes at least; one byte for all others."""


def parts(most: int, data: bytes, kind: Descriptor) -> int | None:
    """How many parts a message of this ``kind`` has: fields, entries, numbers and those inside them.

    None where there are more than ``most``, and where there is anything but fields of one value. Bytes that are no
    message at all count no part: who reads them says so.
    """
    counted, waiting = 0, [(0, len(data), kind)]
    while waiting:
        at, end, inside = waiting.pop()
        fields = inside.fields_by_number
        while at < end:
            counted += 1
            if counted > most:
                return None
            key, at = _varint(data, at, end)
            wire_type = key & 7
            if wire_type == _VARINT:
                _, at = _varint(data, at, end)
            elif wire_type == _LENGTH:
                size, at = _varint(data, at, end)
                known = fields.get(key >> 3)
                if known is not None and known.type == _MESSAGE:
                    waiting.append((at, min(at + size, end), known.message_type))
                elif known is not None and known.type not in _WHOLE:
                    counted += min(size, end - at) // _LEAST.get(known.type, 1)
                at += size
            elif wire_type in (_EIGHT, _FOUR):
                at += 8 if wire_type == _EIGHT else 4
            else:
                return None  # a group begins or ends, or no message
    return None if counted > most else counted


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """The number at ``at``, and where the next byte after it is; at the end where there is none."""
    found = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, at
        shift += 7
    return 0, end
