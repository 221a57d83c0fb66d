"""Nothing half-written, nothing lost."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.files import atomic_folder, atomic_path, check_outputs


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "deep" / "file.txt"
    with atomic_path(target) as path:
        path.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"

    def fail():
        with atomic_path(target) as path:
            path.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_text() == "new"
    assert [p.name for p in target.parent.iterdir()] == ["file.txt"]


def test_a_folder_is_replaced_whole_or_kept(tmp_path):
    target = tmp_path / "folder"
    for content in ("one", "two"):
        with atomic_folder(target) as path:
            (path / "file").write_text(content)
        assert (target / "file").read_text() == content

    def fail():
        with atomic_folder(target) as path:
            (path / "other").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (target / "file").read_text() == "two"
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def run(code, *arguments):
    """Run code that uses the module in a process of its own."""
    command = [sys.executable, "-c", f"from spacy_cnm.files import *\n{code}", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


#: Writes a file, or a folder, and is killed at the n-th move.
KILLED = """
import signal, sys
kind, target, n = sys.argv[1:]
moves = []
def moving(event, arguments):
    if event == "os.rename":
        moves.append(event)
        if len(moves) == int(n):
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(moving)
with {"file": atomic_path, "folder": atomic_folder}[kind](target) as path:
    (path / "file" if kind == "folder" else path).write_text("new")
"""


def test_a_killed_run_leaves_the_earlier_file_and_the_next_one_cleans(tmp_path):
    target = tmp_path / "file"
    target.write_text("old")
    assert run(KILLED, "file", target, 1).returncode == -signal.SIGKILL
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    with atomic_path(target) as path:
        path.write_text("again")
    assert target.read_text() == "again"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("move", [1, 2])
def test_a_killed_run_leaves_the_earlier_folder_and_the_next_one_cleans(tmp_path, move):
    target = tmp_path / "folder"
    with atomic_folder(target) as path:
        (path / "file").write_text("old")
    assert run(KILLED, "folder", target, move).returncode == -signal.SIGKILL
    assert target.exists() == (move == 1)

    def fail():
        with atomic_folder(target):
            assert (target / "file").read_text() == "old"  # put back
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (target / "file").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_what_a_living_run_writes_is_left_alone(tmp_path):
    with atomic_path(tmp_path / "file") as first:
        first.write_text("first")
        with atomic_path(tmp_path / "file") as second:
            second.write_text("second")
    assert (tmp_path / "file").read_text() == "first"


def test_an_interrupt_between_the_moves_brings_the_earlier_folder_back(tmp_path, monkeypatch):
    target = tmp_path / "folder"
    with atomic_folder(target) as path:
        (path / "file").write_text("old")
    rename = Path.rename

    def interrupted(self, to):
        if self.name == "new":
            raise KeyboardInterrupt
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_folder(target) as path:
        (path / "file").write_text("new")
    assert (target / "file").read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_links_stay_links(tmp_path):
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link", tmp_path / "there" / "file"
    link.symlink_to(target)
    for text in ("new", "again"):
        with atomic_path(link) as path:
            path.write_text(text)
        assert link.is_symlink()
        assert target.read_text() == text


def test_devices_and_pipes_are_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        with atomic_path(pipe) as path:
            path.write_text("new")
        assert reader.communicate(timeout=10)[0] == b"new"
    assert pipe.is_fifo()
    with atomic_path(os.devnull) as path:
        path.write_text("new")
    assert Path(os.devnull).is_char_device()


def test_the_longest_names_can_be_written(tmp_path):
    for name in ("字" * 85, "x" * 255):
        with atomic_path(tmp_path / name) as path:
            path.write_text("new")
        assert (tmp_path / name).read_text() == "new"
    with pytest.raises(CNMError, match=r"cannot be written \(File name too long\)"):
        check_outputs([], files=[tmp_path / ("x" * 256)])


def test_files_of_a_folder_have_the_usual_mode(tmp_path):
    (tmp_path / "usual").touch()
    with atomic_folder(tmp_path / "folder") as path:
        (path / "file").touch(mode=0o600)
    assert (tmp_path / "folder" / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_other_files_can_stay(tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    (target / "mine").write_text("mine")
    with atomic_folder(target, keep_others=True) as path:
        (path / "file").write_text("new")
    assert {file.name for file in target.iterdir()} == {"mine", "file"}
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path):
    full = pytest.raises(CNMError, match=r"/dev/full: cannot be written \(No space left")
    with full, atomic_path("/dev/full") as path:
        path.write_text("new")
    full = pytest.raises(CNMError, match=r"/folder: cannot be written \(No space left")
    with full, atomic_folder(tmp_path / "folder") as folder, atomic_path(folder / "file"):
        Path("/dev/full").write_text("new")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))\n"
    code = (
        "import sys, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with atomic_path(sys.argv[1]) as path: path.write_text('longer')"
    )
    done = run(limit + code, tmp_path / "out")
    assert f"{tmp_path / 'out'}: cannot be written (File too large)" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_outputs_are_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source, link, folder = Path("in"), Path("link"), Path("folder")
    source.write_text("mine")
    link.symlink_to(source)
    folder.mkdir()
    (folder / "in").write_text("mine")

    check_outputs([source, "absent"], files=["out", "deep/out"], folder="folder")
    check_outputs([os.devnull], files=[os.devnull, os.devnull])
    for arguments, message in (
        ({"files": [source]}, "an input"),
        ({"files": [tmp_path / "deep" / ".." / "in"]}, "an input"),
        ({"files": [link]}, "an input"),
        ({"files": ["out", "./out"]}, "two outputs"),
        ({"files": [folder]}, "is a folder"),
        ({"files": [source / "out"]}, "Not a directory"),
        ({"folder": link}, "an input"),
        ({"folder": tmp_path}, "an input"),
    ):
        with pytest.raises(CNMError, match=message):
            check_outputs([source], **arguments)
    with pytest.raises(CNMError, match="an input"):
        check_outputs([folder / "in"], folder=folder)
    with pytest.raises(CNMError, match="is a file"):
        check_outputs([], folder=source)
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(CNMError, match="no permission"):
        check_outputs([], files=["deep/out"])
