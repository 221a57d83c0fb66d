"""The file of a compiled table: a magic line, a JSON header, compressed integers; no pickle.

    spacy_cnm structure table<LF>
    header: one line of JSON (format, sizes, groups, fingerprint, source)<LF>
    zlib stream of little-endian int32: characters, components, roots, operators, children by
    column; code points as differences; each array byte by byte (all lowest bytes first), which
    compresses to half the size

Sizes are known before anything is unpacked, so a damaged file cannot ask for unbounded memory.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_path

from .arrays import TableArrays

MAGIC = b"spacy_cnm structure table\n"
FORMAT = 1
#: More nodes than any table can sensibly have; guards the allocation.
MOST_NODES = 1 << 24


class _DamageError(Exception):
    """What is wrong with a file, to be reported with its name."""


def write_table(path: str | os.PathLike[str], arrays: TableArrays, source: dict[str, Any]) -> None:
    """Write a table file in one step (nothing half-written is ever left behind).

    RAISES: CNMError if the file cannot be written.
    """
    header = {
        "format": FORMAT,
        "characters": len(arrays.characters),
        "components": len(arrays.components),
        "nodes": len(arrays.node_operator),
        "groups": arrays.groups,
        "fingerprint": arrays.fingerprint(),
        "source": source,
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    columns = [np.diff(arrays.characters, prepend=0), np.diff(arrays.components, prepend=0)]
    columns += [arrays.roots, arrays.node_operator, *arrays.node_children.T]
    payload = zlib.compress(b"".join(map(_pack, columns)), 9)
    with atomic_path(path) as temporary:
        temporary.write_bytes(MAGIC + text.encode("ascii") + b"\n" + payload)


def read_table(path: str | os.PathLike[str]) -> tuple[TableArrays, dict[str, Any]]:
    """Read a table file and check it.

    RETURNS: the arrays, and the provenance from the header.
    RAISES: CNMError that names the file and what is wrong with it.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CNMError(Errors.E006.format(path=path, why=error.strerror or error)) from error
    try:
        header, payload = _split(data)
        arrays = _arrays(header, payload)
        if fault := arrays.fault():
            raise _DamageError(fault)
        if arrays.fingerprint() != header.get("fingerprint"):
            raise _DamageError("the content does not match its fingerprint")
    except _DamageError as damage:
        raise CNMError(Errors.E013.format(path=path, what=damage)) from None
    return arrays, header["source"]


def _split(data: bytes) -> tuple[dict[str, Any], bytes]:
    if not data.startswith(MAGIC):
        raise _DamageError("it does not start as a structure table")
    line, newline, payload = data[len(MAGIC) :].partition(b"\n")
    try:
        header = json.loads(line) if newline else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise _DamageError("the header is not readable")
    if header.get("format") != FORMAT:
        raise _DamageError(f"format {header.get('format')!r}, this version reads {FORMAT}")
    return header, payload


def _arrays(header: dict[str, Any], payload: bytes) -> TableArrays:
    sizes: list[Any] = [header.get(name) for name in ("characters", "components", "nodes")]
    if not all(type(size) is int and 0 <= size <= MOST_NODES for size in sizes):
        raise _DamageError("the header holds no valid sizes")
    if not isinstance(header.get("source"), dict) or not _are_groups(header.get("groups")):
        raise _DamageError("the header holds no valid groups and source")
    n_characters, n_components, n_nodes = sizes
    lengths = [n_characters, n_components, n_characters, n_nodes, n_nodes, n_nodes, n_nodes]
    characters, components, roots, operators, *children = _unpack(payload, lengths)
    return TableArrays(
        characters=np.cumsum(characters, dtype=np.int32),
        components=np.cumsum(components, dtype=np.int32),
        roots=roots,
        node_operator=operators,
        node_children=np.ascontiguousarray(np.stack(children, axis=1)),
        groups=tuple((level, arity, count) for level, arity, count in header["groups"]),
    )


def _are_groups(groups: object) -> bool:
    return isinstance(groups, list) and all(
        isinstance(group, list)
        and len(group) == 3
        and all(type(number) is int and 0 <= number <= MOST_NODES for number in group)
        for group in groups
    )


def _pack(column: np.ndarray) -> bytes:
    planes = np.ascontiguousarray(column, dtype="<i4").view(np.uint8).reshape(-1, 4)
    return planes.T.tobytes()


def _unpack(payload: bytes, lengths: list[int]) -> list[np.ndarray]:
    expected = 4 * sum(lengths)
    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(payload, expected + 1)
    except zlib.error as error:
        raise _DamageError(f"the data do not unpack ({error})") from None
    if len(raw) != expected:
        raise _DamageError(f"{len(raw):,} bytes of data where {expected:,} belong")
    if not inflater.eof:
        raise _DamageError("the data are cut off")
    if inflater.unused_data:
        raise _DamageError("something follows the data")
    columns, start = [], 0
    for length in lengths:
        planes = np.frombuffer(raw, np.uint8, 4 * length, start).reshape(4, length)
        columns.append(np.ascontiguousarray(planes.T).view("<i4").reshape(-1).astype(np.int32))
        start += 4 * length
    return columns
