"""How many parts a message has, counted on the bytes that arrived, before anything is made of them.

An empty part costs two bytes on the way and some forty in memory, so a message of some megabytes could fill a server.
Bytes that are no message at all count no part: who reads them says so.
"""

from __future__ import annotations

from google.protobuf.descriptor import Descriptor, FieldDescriptor

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_MESSAGE = FieldDescriptor.TYPE_MESSAGE


def at_most(most: int, data: bytes, kind: Descriptor) -> bool:
    """Whether a message of this ``kind`` has at most ``most`` parts: fields, entries and those inside them."""
    counted, waiting = 0, [(0, len(data), kind)]
    while waiting:
        at, end, inside = waiting.pop()
        fields = inside.fields_by_number
        while at < end:
            counted += 1
            if counted > most:
                return False
            key, at = _varint(data, at, end)
            wire_type = key & 7
            if wire_type == _VARINT:
                _, at = _varint(data, at, end)
            elif wire_type == _LENGTH:
                size, at = _varint(data, at, end)
                known = fields.get(key >> 3)
                if known is not None and known.type == _MESSAGE:
                    waiting.append((at, min(at + size, end), known.message_type))
                at += size
            elif wire_type in (_EIGHT, _FOUR):
                at += 8 if wire_type == _EIGHT else 4
            else:
                break  # a group, or no message
    return True


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
