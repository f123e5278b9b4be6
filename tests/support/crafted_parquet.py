"""Writes Parquet files byte by byte, so that tests can create what no library writes: bogus counts, old statistics, absurd
schemas.

A file has one column `c`, in one or several identical row groups. Thrift structs are built with `Struct`, pages with `data_page`,
`data_page_v2` and `dictionary_page`."""

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
    """A struct of Thrift's compact protocol; add fields in the order of their ids."""

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


def statistics(minimum=None, maximum=None, old_minimum=None, old_maximum=None, nulls=0, distinct=None, exact=None):
    """`nulls` None: not counted. `exact`: whether the bounds are declared to be values of the column; None: not declared."""
    made = Struct()
    for number, value in ((1, old_maximum), (2, old_minimum)):
        if value is not None:
            made.binary(number, value)
    for number, value in ((3, nulls), (4, distinct)):
        if value is not None:
            made.i64(number, value)
    for number, value in ((5, maximum), (6, minimum)):
        if value is not None:
            made.binary(number, value)
    if exact is not None:
        made.boolean(7, exact).boolean(8, exact)
    return made


def boolean_list(values):
    """The elements of a list of booleans, for Struct.list with kind 1."""
    return [bytes([1 if value else 2]) for value in values]


def column_index(null_pages, minimums, maximums, order=0, null_counts=None):
    """`order`: 0 unordered, 1 ascending, 2 descending."""
    made = Struct().list(1, 1, boolean_list(null_pages))
    for number, bounds in ((2, minimums), (3, maximums)):
        made.list(number, 8, [varint(len(bound)) + bound for bound in bounds])
    made.i32(4, order)
    if null_counts is not None:
        made.list(5, 6, [zigzag(count) for count in null_counts])
    return made.bytes()


def offset_index(places):
    """`places`: offset, size and first row of each page."""
    return Struct().list(1, 12, [Struct().i64(1, offset).i32(2, size).i64(3, row).bytes() for offset, size, row in places]).bytes()


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
    """`ordered`: the footer declares that statistics use the order of the column's type; otherwise their order is unknown. All
    row groups are identical."""
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


def hash_of_int64(value):
    """XXH64 of the eight bytes of a number, as bloom filters use it."""
    def rotate(number, bits):
        return (number << bits | number >> 64 - bits) & 2**64 - 1
    first, second, third, fourth, fifth = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579,
                                           2870177450012600261)
    mixed = rotate((value % 2**64) * second % 2**64, 31) * first % 2**64
    mixed = (rotate((fifth + 8) ^ mixed, 27) * first + fourth) % 2**64
    mixed = (mixed ^ mixed >> 33) * second % 2**64
    mixed = (mixed ^ mixed >> 29) * third % 2**64
    return mixed ^ mixed >> 32


def bloom_filter(values, blocks=4):
    """A serialized split-block bloom filter over INT64 values."""
    salts = (0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31)
    words = [0] * (8 * blocks)
    for value in values:
        hashed = hash_of_int64(value)
        block = (hashed >> 32) * blocks >> 32
        for i, salt in enumerate(salts):
            words[8 * block + i] |= 1 << ((hashed & 0xffffffff) * salt % 2**32 >> 27)
    header = Struct().i32(1, 32 * blocks)
    for number in (2, 3, 4):
        header.struct(number, Struct().struct(1, Struct()))
    return header.bytes() + struct.pack(f"<{len(words)}I", *words)


class Chunk:
    """A column chunk of a file made by `write_file`. `pages` are (bytes, rows) pairs; `index` is a serialized column index;
    `bloom` is a serialized bloom filter, or the index of the chunk in the row group whose filter to refer to. `claims` overrides
    numbers of the footer: `size`, `uncompressed`, `data_offset`, `dictionary_offset`."""

    def __init__(self, name, physical, pages, dictionary=b"", stats=None, index=None, bloom=None, codec=UNCOMPRESSED, claims=None):
        self.name, self.physical, self.pages, self.dictionary, self.stats = name, physical, pages, dictionary, stats
        self.index, self.bloom, self.codec, self.claims = index, bloom, codec, claims or {}

    def rows(self):
        return sum(rows for _, rows in self.pages)


def write_file(path, schema, row_groups, ordered=True, created_by=b"crafted", rows=None):
    """Row groups are lists of chunks, one for each column of the schema. Chunks with a column index get an offset index, too.
    `rows`: the footer's total."""
    content = bytearray(b"PAR1")
    for group in row_groups:
        for chunk in group:
            chunk.begin = len(content)
            content += chunk.dictionary
            chunk.places = []
            row = 0
            for page, page_rows in chunk.pages:
                chunk.places.append((len(content), len(page), row))
                content += page
                row += page_rows
            chunk.end = len(content)
    for group in row_groups:
        for chunk in group:
            if chunk.index is not None:
                chunk.index_place = (len(content), len(chunk.index))
                content += chunk.index
                offsets = offset_index(chunk.places)
                chunk.offsets_place = (len(content), len(offsets))
                content += offsets
            if isinstance(chunk.bloom, bytes):
                chunk.bloom_place = (len(content), len(chunk.bloom))
                content += chunk.bloom
    groups = []
    for group in row_groups:
        columns = []
        for chunk in group:
            claims = chunk.claims
            facts = Struct().i32(1, chunk.physical).list(2, 5, [zigzag(PLAIN)]).list(3, 8, [varint(len(chunk.name)) + chunk.name])
            facts.i32(4, chunk.codec).i64(5, claims.get("values", chunk.rows()))
            facts.i64(6, claims.get("uncompressed", chunk.end - chunk.begin)).i64(7, claims.get("size", chunk.end - chunk.begin))
            facts.i64(9, claims.get("data_offset", chunk.begin + len(chunk.dictionary)))
            dictionary_offset = claims.get("dictionary_offset", chunk.begin if chunk.dictionary else None)
            if dictionary_offset is not None:
                facts.i64(11, dictionary_offset)
            if chunk.stats is not None:
                facts.struct(12, chunk.stats)
            if chunk.bloom is not None:
                offset, size = (chunk if isinstance(chunk.bloom, bytes) else group[chunk.bloom]).bloom_place
                facts.i64(14, offset).i32(15, size)
            described = Struct().i64(2, chunk.begin).struct(3, facts)
            if chunk.index is not None:
                described.i64(4, chunk.offsets_place[0]).i32(5, chunk.offsets_place[1])
                described.i64(6, chunk.index_place[0]).i32(7, chunk.index_place[1])
            columns.append(described.bytes())
        size = sum(chunk.end - chunk.begin for chunk in group)
        groups.append(Struct().list(1, 12, columns).i64(2, size).i64(3, group[0].rows()).bytes())
    total = sum(group[0].rows() for group in row_groups)
    footer = Struct().i32(1, 1).list(2, 12, schema).i64(3, total if rows is None else rows).list(4, 12, groups).binary(6, created_by)
    if ordered:
        footer.list(7, 12, [Struct().struct(1, Struct()).bytes()] * len(row_groups[0]))
    footer = footer.bytes()
    path.write_bytes(bytes(content) + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return path


def plain(physical, values):
    """Values in PLAIN."""
    if physical == BYTE_ARRAY:
        return b"".join(struct.pack("<I", len(value)) + value for value in values)
    return struct.pack("<" + {INT32: "i", INT64: "q", FLOAT: "f", DOUBLE: "d"}[physical] * len(values), *values)


def optional_page(physical, values):
    """A data page of an OPTIONAL column; None is NULL."""
    bits = bytearray((len(values) + 7) // 8)
    for i, value in enumerate(values):
        bits[i // 8] |= (value is not None) << i % 8
    levels = varint(len(bits) << 1 | 1) + bytes(bits)
    return data_page(struct.pack("<I", len(levels)) + levels + plain(physical, [value for value in values if value is not None]), len(values))
