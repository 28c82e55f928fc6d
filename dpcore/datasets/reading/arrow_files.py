"""Arrow files and streams, and Feather: how much they unpack to is added up before a single buffer is unpacked."""

from __future__ import annotations

import struct

import pyarrow as pa
from pyarrow import ipc

from dpcore.datasets.arrow_cells import is_read, sound
from dpcore.datasets.extension_types import as_stored
from dpcore.datasets.flat_buffers import field, follow, root
from dpcore.datasets.pandas_index import NOTE, noted
from dpcore.datasets.reading import engine
from dpcore.datasets.reading.bounds import check_size
from dpcore.datasets.reading.no_memory import check_memory
from dpcore.datasets.unnamed_index import NOTHING_ELSE
from dpcore.errors import UnreadableFile

_DAMAGED = "This Arrow file is damaged or of a kind that cannot be read; save it as CSV."
_MOST_UNPACKED = 400 << 20
_FILE_START = 8  # the magic and its padding, after which a file is a stream


def arrow_table(data: bytes, *, stream: bool) -> engine.Typed:
    """The columns of an Arrow file as text. Raises UnreadableFile."""
    whole = pa.py_buffer(data)
    try:
        body = whole if stream else whole.slice(_FILE_START)
        _check_batches(body)
        body = as_stored(body)
        schema = ipc.open_stream(body).schema
        told = noted((schema.metadata or {}).get(NOTE, b""))
        kept = told.columns(schema.names)
        if told.levels and not kept:
            raise UnreadableFile(NOTHING_ELSE)
        check_size(0, len(kept))
        places = [place for place in kept if is_read(schema.types[place])]
        batches, rows = [], 0
        reader = ipc.open_stream(body, options=ipc.IpcReadOptions(included_fields=places))
        for batch in reader:
            rows += batch.num_rows
            check_size(rows, len(kept))
            if places:  # else all of them are included
                batches.append(batch)
        read = sound(pa.Table.from_batches(batches, schema=reader.schema)).columns if places else []
    except (pa.ArrowException, OSError, EOFError, ValueError, IndexError, struct.error) as error:
        check_memory(error)
        raise UnreadableFile(_DAMAGED) from None
    columns = dict(zip(places, read, strict=True))
    cells = [columns.get(place, pa.nulls(rows)) for place in kept]
    frame = engine.arrow(pa.Table.from_arrays(cells, [schema.names[place] for place in kept]))
    return engine.Typed(
        frame=frame,
        not_read=tuple(name for name, place in zip(frame.columns, kept, strict=True) if place not in columns),
        index=told.names,
    )


def _check_batches(body: pa.Buffer) -> None:
    """Add up what the packed buffers of all messages say they unpack to. Raises UnreadableFile."""
    total = 0
    for message in ipc.MessageReader.open_stream(body):
        if message.type in ("record batch", "dictionary"):
            total += _unpacked(memoryview(message.metadata), message.body, message.type == "dictionary")
        if total > _MOST_UNPACKED:
            raise UnreadableFile("The file unpacks to more than can be read; keep fewer rows or columns.")


def _unpacked(metadata: memoryview, body: pa.Buffer | None, dictionary: bool) -> int:
    """Bytes that one message unpacks to.

    Its header is a FlatBuffer (Arrow columnar format, Message.fbs): Message.header is field 2; in a DictionaryBatch
    the RecordBatch is field 1; RecordBatch.buffers is field 2 and holds pairs (offset, length). A packed buffer starts
    with its unpacked length as int64, −1 where it is kept as it is.
    """
    if body is None:
        return 0
    bytes_ = memoryview(body)
    table = field(metadata, root(metadata), 2)
    if dictionary and table is not None:
        table = field(metadata, follow(metadata, table), 1)
    if table is None:
        return 0
    record = follow(metadata, table)
    vector = field(metadata, record, 2)
    if vector is None:
        return 0
    packed = field(metadata, record, 3) is not None
    start = follow(metadata, vector)
    total = 0
    for place in range(struct.unpack_from("<I", metadata, start)[0]):
        offset, length = struct.unpack_from("<qq", metadata, start + 4 + 16 * place)
        stated = struct.unpack_from("<q", bytes_, offset)[0] if packed and length >= 8 else -1
        total += max(stated, length)
    return total
