"""Text files that are read one text at a time, and what is said about damaged ones."""

import gzip
import json
import lzma
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from spacy_cnm.corpora.text_streams import COMPRESSIONS, read_lines
from spacy_cnm.errors import CNMError

TEXTS = ["今天天气很好。", "我在 北京", "𠮷野家\u2028见", "a[MASK]b"]
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".xz": lzma.compress,
}


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def lines(texts: list[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def json_lines(texts: list[str]) -> bytes:
    return lines([json.dumps({"id": 1, "text": text}) for text in texts])


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize(("kind", "data"), [(".txt", lines(TEXTS)), (".jsonl", json_lines(TEXTS))])
def test_all_kinds_give_the_texts(tmp_path, kind, compression, data):
    path = write(tmp_path, f"a.b{kind}{compression}", PACK[compression](data))
    assert list(read_lines(path)) == TEXTS
    for start in range(len(TEXTS) + 2):
        assert list(read_lines(path, start=start)) == TEXTS[start:]


def test_the_ending_may_be_in_capitals(tmp_path):
    assert list(read_lines(write(tmp_path, "A.TXT.GZ", PACK[".gz"](lines(TEXTS))))) == TEXTS


@pytest.mark.parametrize(
    "data",
    [
        "\ufeff一\r\n二\r\n",
        "一\n二",
        "\n 一 \n\n\u3000\t\n\r\n二\u3000\n\n",
    ],
    ids=["windows", "no last line end", "blank lines"],
)
def test_blank_texts_and_white_space_around_texts_are_left_out(tmp_path, data):
    path = write(tmp_path, "a.txt", data.encode())
    assert list(read_lines(path)) == ["一", "二"]
    assert list(read_lines(path, start=1)) == ["二"]


def test_blank_texts_in_json_are_left_out(tmp_path):
    data = json_lines(["一", "", " \n"]) + b"\n" + json_lines([" 二\n三 "])
    assert list(read_lines(write(tmp_path, "a.jsonl", data))) == ["一", "二\n三"]


def test_several_parts_packed_one_after_another_are_one_file(tmp_path):
    for compression in COMPRESSIONS:
        data = b"".join(PACK[compression](lines([text])) for text in TEXTS)
        assert list(read_lines(write(tmp_path, f"a.txt{compression}", data))) == TEXTS


def failure(path: Path) -> str:
    with pytest.raises(CNMError, match=re.escape(str(path))) as caught:
        list(read_lines(path))
    return str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    for compression in PACK:
        assert "No such file" in failure(tmp_path / f"a.txt{compression}")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "a.txt").mkdir()
    assert "cannot be read" in failure(tmp_path / "a.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    assert "regular file" in failure(tmp_path / "a.txt")


@pytest.mark.parametrize("name", ["a", "a.json", "a.csv.gz", ".gz", "a.txt.zst"])
def test_other_kinds_are_refused(tmp_path, name):
    assert ".jsonl" in failure(write(tmp_path, name, lines(TEXTS)))


@pytest.mark.parametrize("compression", PACK)
def test_text_in_another_encoding_is_located(tmp_path, compression):
    data = PACK[compression]("一\n二\n".encode() + "三".encode("gb18030"))
    message = failure(write(tmp_path, f"a.txt{compression}", data))
    assert ":3: not UTF-8 (byte 8 " in message


@pytest.mark.parametrize("data", [b"\xe4\xb8\n", "一".encode() + b"\xed\xa0\x80\n"])
def test_cut_off_and_surrogate_characters_are_not_utf_8(tmp_path, data):
    assert "not UTF-8" in failure(write(tmp_path, "a.txt", data))


def test_binary_text_is_refused(tmp_path):
    assert "NUL" in failure(write(tmp_path, "a.txt", b"a\0b\n"))
    assert "NUL" in failure(write(tmp_path, "a.txt", "abc\n".encode("utf-16-le")))


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-3],
        lambda data: data[:20] + bytes([data[20] ^ 255]) + data[21:],
        lambda data: lines(TEXTS),
    ],
    ids=["half", "end missing", "one byte changed", "not packed"],
)
def test_damaged_compression_is_an_error(tmp_path, compression, damage):
    data = PACK[compression](lines([str(i) for i in range(5000)]))
    message = failure(write(tmp_path, f"a.txt{compression}", damage(data)))
    assert "damaged or cut off" in message


def test_what_stands_before_the_damage_is_given(tmp_path):
    data = PACK[".gz"](lines([str(i) for i in range(100_000)]))
    texts = read_lines(write(tmp_path, "a.txt.gz", data[:-100]))
    assert next(texts) == "0"


@pytest.mark.parametrize(
    "line",
    [
        "一",
        '{"text": "一"',
        '["text"]',
        '"text"',
        "null",
        '{"texts": "一"}',
        '{"text": null}',
        '{"text": 1}',
        '{"text": "\\ud842"}',
        '{"text": "一"} {}',
        "[" * 100_000,
    ],
    ids=lambda line: line[:20],
)
def test_damaged_json_lines_are_located(tmp_path, line):
    message = failure(write(tmp_path, "a.jsonl", json_lines(["一"]) + b"\n" + lines([line])))
    assert ":3: no JSON object with a text" in message


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.txt.gz", "a.jsonl.xz"])
@pytest.mark.parametrize("text", ["", "\n", "\ufeff \n\u3000\n"])
def test_a_file_without_a_text_is_an_error(tmp_path, name, text):
    data = PACK[Path(name).suffix if name.count(".") > 1 else ""](text.encode())
    assert "holds no text" in failure(write(tmp_path, name, data))


def test_an_empty_file_is_no_compressed_file(tmp_path):
    assert "cut off" in failure(write(tmp_path, "a.txt.xz", b""))
    assert "holds no text" in failure(write(tmp_path, "a.txt.gz", b""))
