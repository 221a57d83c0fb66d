"""Text to pretrain on: many files become one shuffled file, apart from what models are tested on.

Nothing in a text is normalised. What is left out, and why, is counted for each input.
"""

import hashlib
import os
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_folder, check_outputs, check_regular
from spacy_cnm.ids import is_ideograph, unify

from . import char_bio, text_streams
from .docs import read_docs, write_json
from .records import Record
from .sentences import sentence_keys
from .text_files import read_lines

#: What is written.
FILES = ("train.txt", "heldout.txt", "rare.txt", "characters.tsv", "report.json")

#: Share of the texts that are kept out of train.txt.
HELD_OUT = 0.01
#: Texts of heldout.txt and of rare.txt at most.
MAX_EVALUATED = 2000
#: Letters that a sentence has at least for a text to be left out because it holds it. Shorter ones
#: (子曰, 非常好) stand everywhere.
MIN_LETTERS = 6

_Path = str | os.PathLike[str]


class Left:
    """Why a text is not in train.txt: keys of the report."""

    DUPLICATE = "duplicate text"
    NO_LETTER = "no letter"
    EXCLUDED = "holds a sentence of an excluded file"
    HELD_OUT = "held out"
    NEAR_HELD_OUT = "holds a sentence of a held-out text"


@dataclass
class Source:
    """One input and what became of its texts.

    path: the file.
    repeats: how often each of its texts stands in train.txt.
    read: texts met.
    left_out: texts that are not in train.txt, by reason.
    excluded_by: of those that hold an excluded sentence, how many by file that has it.
    texts, characters: what is in train.txt of it, each text counted once.
    """

    path: Path
    repeats: int = 1
    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    excluded_by: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    characters: int = 0

    @classmethod
    def parse(cls, argument: str) -> "Source":
        """Read `PATH` or `PATH:REPEATS`.

        RAISES CNMError: REPEATS is 0.
        """
        match = re.fullmatch(r"(.+):([0-9]+)", argument)
        if not match or Path(argument).exists():
            return cls(Path(argument))
        if not int(match[2]):
            raise CNMError(Errors.E317.format(argument=argument))
        return cls(Path(match[1]), int(match[2]))

    @property
    def name(self) -> str:
        """The file and its folder: enough to know it, the same wherever the corpora lie."""
        return "/".join(self.path.parts[-2:])

    def to_dict(self) -> dict[str, Any]:
        """Give the counts for the report."""
        return {
            "source": self.name,
            "sha256": _sha256(self.path),
            "read": self.read,
            "left out": dict(sorted(self.left_out.items())),
            "excluded by": dict(sorted(self.excluded_by.items())),
            "texts": self.texts,
            "characters": self.characters,
            "repeats": self.repeats,
        }

    def __str__(self) -> str:
        reasons = "".join(f", {n} {reason}" for reason, n in sorted(self.left_out.items()))
        kept = f"{self.texts} texts, {self.characters} characters, x {self.repeats}"
        return f"{self.name}: {self.read} read, {kept}{reasons}"


def read_texts(path: Path) -> Iterator[str]:
    """Read the texts of a file, whatever it is.

    path: `.txt` or `.jsonl`, also compressed (see `text_streams`); `.bio` (a sentence is a text);
        `.conllu` and `.iob2` (their `# text`, or else the words); `.tsv` with a header that has the
        column `text`; `.spacy`.
    YIELDS: the texts; a line break inside of one becomes a space.
    RAISES CNMError: the file cannot be read, or has no texts where they should be.
    """
    reader = _READERS.get(path.suffix, text_streams.read_lines)
    for text in reader(path):
        yield text.replace("\r\n", " ").replace("\n", " ").strip()


def _read_words(path: Path) -> Iterator[str]:
    return _some((_sentence(lines) for _, lines in char_bio.sentences(read_lines(path))), path)


def _sentence(lines: Iterable[str]) -> str:
    """Give the `# text` of a sentence, or where it has none its words without spaces between."""
    words = []
    for line in lines:
        if line.startswith("# text = "):
            return line.removeprefix("# text = ")
        number, *columns = line.split("\t")
        if number.isdecimal() and columns:
            words.append(columns[0])
    return "".join(words)


def _read_column(path: Path) -> Iterator[str]:
    header, *rows = (line.split("\t") for line in read_lines(path) or [""])
    if "text" not in header:
        raise CNMError(Errors.E315.format(path=path))
    column = header.index("text")
    return _some((row[column] for row in rows if len(row) > column), path)


def _read_bio(path: Path) -> Iterator[str]:
    records = (item for item in char_bio.read_char_bio(path) if isinstance(item, Record))
    return _some((record.text for record in records), path)


def _read_spacy(path: Path) -> Iterator[str]:
    return _some((doc.text for doc in read_docs(path)), path)


def _some(texts: Iterable[str], path: Path) -> Iterator[str]:
    """Pass texts on and miss them if there are none: a file that excludes nothing is a mistake."""
    empty = True
    for text in texts:
        empty = False
        yield text
    if empty:
        raise CNMError(Errors.E304.format(path=path))


_READERS = {
    ".conllu": _read_words,
    ".iob2": _read_words,
    ".tsv": _read_column,
    ".bio": _read_bio,
    ".spacy": _read_spacy,
}


def comparable(text: str) -> str:
    """Give a text as sentences are compared: full-width forms and capitals do not count."""
    return unicodedata.normalize("NFKC", text).casefold()


class SentenceIndex:
    """Sentences by their letters and digits; finds the texts that hold one.

    A text holds a sentence when the letters of the sentence stand in it in a row, wherever its own
    sentences begin and end, or when it is that sentence. For the former the sentence needs
    `MIN_LETTERS` letters.
    """

    def __init__(self) -> None:
        self._whole: dict[str, str] = {}
        self._by_start: defaultdict[str, list[str]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._whole)

    def add(self, text: str, owner: str) -> None:
        """Add the sentences of a text; `owner` is what `find` gives for them."""
        for key in sentence_keys(comparable(text)):
            if key not in self._whole:
                self._whole[key] = owner
                if len(key) >= MIN_LETTERS:
                    self._by_start[key[:MIN_LETTERS]].append(key)

    def find(self, text: str) -> str | None:
        """Give the owner of the first sentence that a text holds, or None."""
        letters = "".join(filter(str.isalnum, comparable(text)))
        if letters in self._whole:
            return self._whole[letters]
        for i in range(len(letters) - MIN_LETTERS + 1):
            for key in self._by_start.get(letters[i : i + MIN_LETTERS], ()):
                if letters.startswith(key, i):
                    return self._whole[key]
        return None


def write_pretraining_text(
    sources: Sequence[Source],
    folder: _Path,
    *,
    exclude: Iterable[Path] = (),
    held_out: float = HELD_OUT,
    max_ideographs: int | None = None,
    seed: int = 0,
    progress: bool = False,
) -> dict[str, Any]:
    """Make `train.txt`, `heldout.txt`, `rare.txt`, `characters.tsv` and `report.json`.

    Left out of all: texts without a letter, second and later copies of a text, and texts that hold
    a sentence of an excluded file. Which of the rest are held out depends on their content alone;
    a text that holds a sentence of a held-out one is left out as well.

    sources: the inputs; their counts are filled in.
    folder: where to write; other files in it stay.
    exclude: files whose sentences may not be in any output.
    held_out: share (0..1) of the texts that are held out.
    max_ideographs: size of the vocabulary's part of ideographs, which tells what is rare:
        rare.txt has the held-out texts with an ideograph beyond the `max_ideographs` most frequent
        ones of train.txt. Default: with one that train.txt has not.
    seed: of the order of train.txt.
    progress: show progress bars on standard error.
    RETURNS: the report.
    RAISES CNMError: a file cannot be read or written, or no text is left to train on.
    """
    exclude = list(exclude)
    for path in (*exclude, *(source.path for source in sources)):
        check_regular(path)  # its checksum is a second reading
    check_folder(folder, [*exclude, *(source.path for source in sources)])
    index = SentenceIndex()
    exclusions = [_exclude(path, index) for path in _shown(exclude, progress, "excluded files")]
    pool: list[str] = []
    parts: list[list[str]] = []
    seen: set[str] = set()
    for source in _shown(sources, progress, "inputs"):
        kept = []
        for text in _usable(source, seen, index):
            if _position(text) < held_out:
                source.left_out[Left.HELD_OUT] += 1
                pool.append(text)
            else:
                kept.append(text)
        parts.append(kept)
    del seen
    near = SentenceIndex()
    for text in pool:
        near.add(text, "")
    texts: list[str] = []
    for source, part in zip(sources, _shown(parts, progress, "held-out sentences"), strict=True):
        kept = [text for text in part if near.find(text) is None]
        source.left_out[Left.NEAR_HELD_OUT] += len(part) - len(kept)
        source.texts, source.characters = len(kept), sum(map(len, kept))
        texts += kept * source.repeats
    if not texts:
        raise CNMError(Errors.E316.format(names=", ".join(source.name for source in sources)))
    random.Random(seed).shuffle(texts)
    characters = Counter[str]()
    for text in _shown(texts, progress, "characters"):
        characters.update(text)
    pool.sort(key=_position)
    frequent = set(_most_frequent_ideographs(characters, max_ideographs))
    rare = [text for text in pool if _has_rare(text, frequent)][:MAX_EVALUATED]
    report = {
        "inputs": [source.to_dict() for source in sources],
        "excluded": exclusions,
        "settings": {"held out": held_out, "ideographs": max_ideographs, "seed": seed},
        "written": {
            "train": _size(texts),
            "held out": _size(pool[:MAX_EVALUATED]),
            "rare": _size(rare),
        },
    }
    with atomic_folder(folder, keep_others=True) as temporary:
        _write_lines(texts, temporary / "train.txt")
        _write_lines(pool[:MAX_EVALUATED], temporary / "heldout.txt")
        _write_lines(rare, temporary / "rare.txt")
        counts = sorted(characters.items(), key=lambda item: (-item[1], item[0]))
        _write_lines((f"{char}\t{n}" for char, n in counts), temporary / "characters.tsv")
        write_json(report, temporary / "report.json")
    return report


def check_folder(folder: _Path, inputs: Iterable[_Path] = ()) -> None:
    """Check that the files can be written to a folder and that none of them is an input.

    RAISES CNMError: they cannot, or one is.
    """
    check_outputs([], folder=folder)
    check_outputs(inputs, files=[Path(folder, name) for name in FILES])


def _exclude(path: Path, index: SentenceIndex) -> dict[str, Any]:
    """Add the sentences of a file to the index; give its entry of the report."""
    name = Source(path).name
    before, n_texts = len(index), 0
    for text in read_texts(path):
        index.add(text, name)
        n_texts += 1
    new = len(index) - before
    return {"source": name, "sha256": _sha256(path), "texts": n_texts, "new sentences": new}


def _usable(source: Source, seen: set[str], index: SentenceIndex) -> Iterator[str]:
    """Give the texts of an input that may be used, and count the others in `source`."""
    for text in read_texts(source.path):
        source.read += 1
        if not any(map(str.isalpha, text)):
            source.left_out[Left.NO_LETTER] += 1
        elif text in seen:
            source.left_out[Left.DUPLICATE] += 1
        elif (owner := index.find(text)) is not None:
            source.left_out[Left.EXCLUDED] += 1
            source.excluded_by[owner] += 1
        else:
            seen.add(text)
            yield text


def _position(text: str) -> float:
    """Where a text stands in a random order that depends on nothing but each text: 0..1."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big") / 2**64


def _most_frequent_ideographs(counts: Counter[str], limit: int | None) -> list[str]:
    ideographs = Counter({char: n for char, n in counts.items() if is_ideograph(char)})
    return sorted(ideographs, key=lambda char: (-ideographs[char], char))[:limit]


def _has_rare(text: str, frequent: set[str]) -> bool:
    return any(is_ideograph(char) and unify(char) not in frequent for char in set(text))


def _size(texts: Sequence[str]) -> dict[str, int]:
    return {"texts": len(texts), "characters": sum(map(len, texts))}


def _write_lines(lines: Iterable[str], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _shown(items: Any, progress: bool, title: str) -> Any:
    """Show progress, if asked to; `disable=None` is no bar where there is no terminal."""
    return tqdm(items, desc=title, disable=None) if progress else items
