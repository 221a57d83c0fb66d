"""Writing files so that no input is lost and no reader ever meets half of an output."""

import hashlib
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import CNMError, Errors

_Path = str | os.PathLike[str]

#: Bytes of a file's name that stand in the name of its temporary, so that this is never too long.
_MOST_NAME = 100


class _WriteError(CNMError):
    """A path cannot be written, and why."""

    def __init__(self, path: _Path, why: str) -> None:
        super().__init__(Errors.E420.format(path=path, why=why))
        self.path, self.why = path, why


def check_outputs(
    inputs: Iterable[_Path], *, files: Iterable[_Path] = (), folder: _Path | None = None
) -> None:
    """Find out before any work whether the outputs of a command can be written, and do no harm.

    inputs: what the command reads.
    files: the files that it writes.
    folder: the folder that it replaces as a whole.
    RAISES: CNMError when an output is an input, holds an input, is a file of an input folder or is
        another output, when a folder is where a file is to be written (or the other way round), or
        when it cannot be written.
    """
    sources = [Path(os.path.realpath(path)) for path in inputs if os.path.exists(path)]
    seen: set[Path] = set()
    for path in files:
        if os.path.isdir(path):
            raise CNMError(Errors.E314.format(path=path, found="folder", wanted="file"))
        target = Path(os.path.realpath(path))
        if not _is_special(path):
            within = os.path.exists(target) and any(source in target.parents for source in sources)
            if target in sources or within:
                raise CNMError(Errors.E421.format(path=path))
            if target in seen:
                raise CNMError(Errors.E422.format(path=path))
        seen.add(target)
        _check_place(path)
    if folder is not None:
        target = Path(os.path.realpath(folder))
        if any(target in (source, *source.parents) for source in sources):
            raise CNMError(Errors.E421.format(path=folder))
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise CNMError(Errors.E314.format(path=folder, found="file", wanted="folder"))
        _check_place(folder)


def check_folder(folder: _Path, names: Iterable[str], inputs: Iterable[_Path] = ()) -> None:
    """Find out whether files can be written to a folder, whose other files stay.

    folder: it may be missing.
    names: the names of the files.
    inputs: what must not be overwritten.
    RAISES: CNMError as `check_outputs` does.
    """
    check_outputs([], folder=folder)
    check_outputs(inputs, files=[Path(folder, name) for name in names])


def make_folder(path: _Path) -> None:
    """Make a folder with its parents, unless it is there.

    RAISES: CNMError when it is a file, or cannot be made.
    """
    check_outputs([], folder=Path(path))
    with _naming(path):
        os.makedirs(path, exist_ok=True)


def check_regular(path: _Path) -> None:
    """Refuse pipes and devices as an input that has to be read more than once.

    RAISES: CNMError when the path is there but is no regular file.
    """
    if _is_special(path):
        raise CNMError(Errors.E425.format(path=path))


@contextmanager
def atomic_path(path: _Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; move it into place on success, delete it on failure.

    path: the file to write. Missing parent folders are made. A symbolic link stays one, and what it
        points to is written. A device or pipe is written straight into.
    YIELDS: the path to write to.
    RAISES: CNMError that names `path` for a folder there and for every OSError.
    """
    check_outputs([], files=[path])
    with _naming(path):
        if _is_special(path):
            yield Path(path)
            return
        target = _prepare(path)
        handle, name = tempfile.mkstemp(prefix=_prefix(target), dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(_file_mode())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: _Path, *, keep_others: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside `path`; move it into place on success, delete it on failure.

    A run that is killed in the short time between the moves leaves the earlier folder as "old" in a
    hidden folder beside; the next run puts it back.

    path: the folder to write. An existing one is replaced only after the new one is complete.
    keep_others: if the existing folder holds other files than the new one, they stay, and the new
        files are moved into it one by one.
    YIELDS: the folder to write into.
    RAISES: CNMError that names `path` for a file there and for every OSError.
    """
    check_outputs([], folder=path)
    with _naming(path):
        target = _prepare(path)
        place = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
        try:
            new = place / "new"
            new.mkdir()
            yield new
            # Some libraries make their files readable for the owner only.
            for file in new.rglob("*"):
                if file.is_file():
                    file.chmod(_file_mode())
            for file in new.iterdir():
                if keep_others and (target / file.name).is_dir() and not file.is_dir():
                    found = target / file.name
                    raise CNMError(Errors.E314.format(path=found, found="folder", wanted="file"))
            if keep_others and _has_others(target, new):
                for file in sorted(new.iterdir()):
                    os.replace(file, target / file.name)
            else:
                if target.exists():
                    target.rename(place / "old")
                new.rename(target)
        finally:
            _discard(place, target)


def _check_place(path: _Path) -> None:
    """Check that a path can be written, as far as that can be told without writing."""
    with _naming(path), suppress(FileNotFoundError):
        os.stat(path)  # other errors: a name too long, no access, a file among the folders
    place = Path(os.path.realpath(path))
    places = [place, *place.parents] if not _is_special(path) else [Path(path)]
    existing = [place for place in places if os.path.exists(place)]
    # What is there, and the folder that the new one is put into.
    for place in existing[: 2 if existing[0] == places[0] else 1]:
        if not os.access(place, os.W_OK):
            raise _WriteError(path, f"no permission to write to {place}")


def _is_special(path: _Path) -> bool:
    """Tell whether there is something at a path that is neither a file nor a folder."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _has_others(target: Path, new: Path) -> bool:
    """Tell whether a folder must stay: it has other files, or a shell is probably in it."""
    if not target.is_dir():
        return False
    return target == Path.cwd() or bool(set(os.listdir(target)) - set(os.listdir(new)))


@contextmanager
def _naming(path: _Path) -> Iterator[None]:
    """Turn every failure of the system into an error that names the path the user gave.

    Of a file in a folder, both temporary, the folder is what the user gave.
    """
    try:
        yield
    except OSError as error:
        raise _WriteError(path, str(error.strerror or error)) from error
    except _WriteError as error:
        # Another output that is written at the same time keeps its name.
        ours = _prefix(Path(os.path.realpath(path)))
        if any(part.startswith(ours) for part in Path(error.path).parts):
            raise _WriteError(path, error.why) from error
        raise


def _prepare(path: _Path) -> Path:
    """Give where to write, its folder made and cleaned of what killed runs left for it."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    # With a second dot: the temporary of a temporary.
    ours = re.compile(r"\.?" + re.escape(_prefix(target, "PID")).replace("PID", "([0-9]+)"))
    for name in os.listdir(target.parent) if os.access(target.parent, os.R_OK) else ():
        match = ours.match(name)
        if match and not _is_alive(int(match[1])):
            _discard(target.parent / name, target)
    return target


def _prefix(target: Path, process: str | int | None = None) -> str:
    """Begin the name of a temporary: for which file, of which machine and process."""
    name = os.fsencode(target.name)[:_MOST_NAME].decode("utf-8", "ignore")
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:6]
    return f".{name}.{machine}-{process or os.getpid()}."


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # where signal 0 is not harmless
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _discard(place: Path, target: Path) -> None:
    """Remove a temporary; the earlier folder in it goes back if nothing has taken its place."""
    if not place.is_dir():
        place.unlink(missing_ok=True)
        return
    old = place / "old"
    if old.exists() and not target.exists():
        old.rename(target)
    shutil.rmtree(place, ignore_errors=True)


def _file_mode() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
