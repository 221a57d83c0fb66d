"""Nothing half-written, nothing lost."""

import pytest

from spacy_cnm.files import atomic_folder, atomic_path


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
