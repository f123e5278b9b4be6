"""Writes Parquet files byte by byte, so that tests can make what no library writes: lying counts, old statistics, absurd schemas.

A file has one column `c`, in one row group or several that are the same. Thrift structs are built with `Struct`, pages with `data_page`, `data_page_v2` and
`dictionary_page`.
"""

import struct

BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY = range(8)
REQUIRED, OPTIONAL = range(2)
UTF8, DECIMAL = 0, 5  # converted types
PLAIN, RLE, DELTA_BINARY_PACKED, RLE_DICTIONARY, BYTE_STREAM_SPLIT = 0, 3, 5, 8, 9
UNCOMPRESSED, SNAPPY, ZSTD = 0, 1, 6


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def zigzag(number):
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


class Struct:
    """A struct of Thrift's compact protocol; fields are added in the order of their numbers."""

    def __init__(self):
        self.parts = []
        self.last = 0

    def _field(self, number, kind, body):
        step = number - self.last
        self.parts += [bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + zigzag(number), body]
        self.last = number
        return self

    def boolean(self, number, value):
        return self._field(number, 1 if value else 2, b"")

    def i32(self, number, value):
        return self._field(number, 5, zigzag(value))

    def i64(self, number, value):
        return self._field(number, 6, zigzag(value))

    def binary(self, number, value):
        return self._field(number, 8, varint(len(value)) + value)

    def list(self, number, kind, items):
        head = bytes([len(items) << 4 | kind]) if len(items) < 15 else bytes([0xf0 | kind]) + varint(len(items))
        return self._field(number, 9, head + b"".join(items))

    def struct(self, number, value):
        return self._field(number, 12, value.bytes())

    def bytes(self):
        return b"".join(self.parts) + b"\0"


def schema_element(name, physical=None, repetition=None, children=None, converted=None, length=None, scale=None, precision=None):
    element = Struct()
    for number, value in ((1, physical), (2, length), (3, repetition)):
        if value is not None:
            element.i32(number, value)
    element.binary(4, name)
    for number, value in ((5, children), (6, converted), (7, scale), (8, precision)):
        if value is not None:
            element.i32(number, value)
    return element.bytes()


def root(children=1):
    return schema_element(b"schema", children=children)


def column(physical, repetition=REQUIRED, **more):
    return schema_element(b"c", physical, repetition, **more)


def statistics(minimum=None, maximum=None, old_minimum=None, old_maximum=None):
    made = Struct()
    for number, value in ((1, old_maximum), (2, old_minimum)):
        if value is not None:
            made.binary(number, value)
    made.i64(3, 0)
    for number, value in ((5, maximum), (6, minimum)):
        if value is not None:
            made.binary(number, value)
    return made


def data_page(body, values, encoding=PLAIN, uncompressed=None):
    header = Struct().i32(1, 0).i32(2, len(body) if uncompressed is None else uncompressed).i32(3, len(body))
    header.struct(5, Struct().i32(1, values).i32(2, encoding).i32(3, RLE).i32(4, RLE))
    return header.bytes() + body


def data_page_v2(levels, body, values, nulls, encoding=PLAIN):
    size = len(levels) + len(body)
    header = Struct().i32(1, 3).i32(2, size).i32(3, size)
    header.struct(8, Struct().i32(1, values).i32(2, nulls).i32(3, values).i32(4, encoding).i32(5, len(levels)).i32(6, 0).boolean(7, False))
    return header.bytes() + levels + body


def dictionary_page(body, values):
    return Struct().i32(1, 2).i32(2, len(body)).i32(3, len(body)).struct(7, Struct().i32(1, values).i32(2, PLAIN)).bytes() + body


def write(path, schema, physical, pages, rows, dictionary=b"", stats=None, codec=UNCOMPRESSED, uncompressed=None, ordered=False,
          created_by=b"crafted", row_groups=1):
    """`ordered`: the footer says that statistics follow the order of the column's type. Without it they are of unknown order.
    With several row groups, all are the same one."""
    length = len(dictionary) + len(pages)
    facts = Struct().i32(1, physical).list(2, 5, [zigzag(PLAIN)]).list(3, 8, [varint(1) + b"c"]).i32(4, codec).i64(5, rows)
    facts.i64(6, length if uncompressed is None else uncompressed).i64(7, length).i64(9, 4 + len(dictionary))
    if dictionary:
        facts.i64(11, 4)
    if stats is not None:
        facts.struct(12, stats)
    group = Struct().list(1, 12, [Struct().i64(2, 4).struct(3, facts).bytes()]).i64(2, length).i64(3, rows)
    footer = Struct().i32(1, 1).list(2, 12, schema).i64(3, rows * row_groups).list(4, 12, [group.bytes()] * row_groups).binary(6, created_by)
    if ordered:
        footer.list(7, 12, [Struct().struct(1, Struct()).bytes()])
    content = footer.bytes()
    path.write_bytes(b"PAR1" + dictionary + pages + content + struct.pack("<I", len(content)) + b"PAR1")
    return path
