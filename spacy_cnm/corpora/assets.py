"""What `spacy project assets` has fetched, against the checksums in project.yml.

A download that breaks off leaves a part of the file, and later downloads skip what is there. So a
file with a wrong checksum is moved aside here, and the next `spacy project assets` fetches it.
"""

import hashlib
from itertools import count
from pathlib import Path
from typing import Any

import srsly

from spacy_cnm.errors import CNMError, Errors, one_line

#: Ending of what is moved aside.
DAMAGED = ".damaged"


def check_assets(project: Path) -> dict[str, str]:
    """Check the assets of a project.

    project: folder of project.yml.
    RETURNS: for each asset, by its path in the project, what it is: "as expected", "there, no
        checksum known", or "not fetched", which is no error: another folder may stand in.
    RAISES: CNMError when project.yml cannot be read; and when files are not what is expected, after
        all of them were moved aside.
    """
    config = _read(project / "project.yml")
    states: dict[str, str] = {}
    damaged: list[str] = []
    for asset in config["assets"]:
        path, checksum = project / asset["dest"], asset.get("checksum")
        if not path.is_file():
            states[asset["dest"]] = "not fetched"
            continue
        data = path.read_bytes()
        if checksum and hashlib.md5(data, usedforsecurity=False).hexdigest() == checksum:
            states[asset["dest"]] = "as expected"
        elif data and not checksum:
            states[asset["dest"]] = "there, no checksum known"
        else:
            path.rename(_free(path))
            damaged.append(f"{asset['dest']} ({len(data):,} bytes)")
    if damaged:
        raise CNMError(Errors.E323.format(files=", ".join(damaged), ending=DAMAGED))
    return states


def _read(path: Path) -> dict[str, Any]:
    try:
        config = dict(srsly.read_yaml(path) or {})
        config["assets"] = config.get("assets") or []
        for asset in config["assets"]:
            if not isinstance(asset, dict) or not isinstance(asset.get("dest"), str):
                raise ValueError(f"assets: {asset!r} has no 'dest'")
        return config
    except (OSError, ValueError, TypeError) as error:
        raise CNMError(Errors.E301.format(path=path, reason=one_line(error))) from error


def _free(path: Path) -> Path:
    """A name beside a file that is not taken."""
    names = (path.name + DAMAGED + (f"-{i}" if i else "") for i in count())
    return next(new for name in names if not (new := path.with_name(name)).exists())
