"""Text to pretrain on: many files become one shuffled file, apart from what models are tested on.

Nothing in a text is normalised. What is left out, and why, is counted for each input.
"""

import hashlib
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unicodedata import category

from tqdm import tqdm

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_folder, check_folder, check_regular
from spacy_cnm.ids import is_ideograph, unify

from .docs import write_json
from .overlap import SentenceIndex
from .splits import place_of_text
from .text_readers import read_texts

#: What is written.
FILES = ("train.txt", "heldout.txt", "rare.txt", "characters.tsv", "report.json")

#: How often an input may be repeated.
MOST_REPEATS = 1000
#: Share of the texts that are kept out of train.txt.
HELD_OUT = 0.01
#: Texts of heldout.txt and of rare.txt at most.
MAX_EVALUATED = 2000

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

        RAISES CNMError: REPEATS is 0, or so large that it must be a mistake.
        """
        match = re.fullmatch(r"(.+):([0-9]+)", argument)
        if not match or Path(argument).exists():
            return cls(Path(argument))
        if len(match[2]) > 9 or not 1 <= int(match[2]) <= MOST_REPEATS:
            raise CNMError(Errors.E317.format(argument=argument, most=MOST_REPEATS))
        return cls(Path(match[1]), int(match[2]))

    @property
    def name(self) -> str:
        """The file and its folder: enough to know it, the same wherever the corpora lie."""
        return "/".join(self.path.parts[-2:])

    def count(self, reason: str, n: int = 1) -> None:
        """Count texts that are left out."""
        if n:
            self.left_out[reason] += n

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


@dataclass
class PretrainingText:
    """The text in memory.

    sources: the inputs with their counts.
    exclusions: for each excluded file its name, checksum and number of sentences.
    train: the texts of train.txt in their order.
    held_out: all the texts held out, in an order that depends on their content alone.
    characters: how often each character stands in train.txt.
    settings: what was asked for.
    """

    sources: Sequence[Source]
    exclusions: list[dict[str, Any]]
    train: list[str]
    held_out: list[str]
    characters: Counter[str]
    settings: dict[str, Any]


def load_pretraining_text(
    sources: Sequence[Source],
    *,
    exclude: Sequence[Path] = (),
    held_out: float = HELD_OUT,
    seed: int = 0,
    progress: bool = False,
) -> PretrainingText:
    """Read texts, leave out what must be, hold some out, and shuffle the rest.

    Left out of everything: texts without a letter, second and later copies of a text, and texts
    that hold a sentence of an excluded file. Which of the others are held out depends on their
    content alone. A text that holds a sentence of a held-out one is left out of train.

    sources: the inputs; their counts are filled in.
    exclude: files whose sentences must not be in any output.
    held_out: share (0..1) of the texts that are held out.
    seed: of the order of train.txt.
    progress: show progress bars on standard error.
    RAISES CNMError: a file cannot be read, or no text is left to train on.
    """
    for path in (*exclude, *(source.path for source in sources)):
        check_regular(path)  # its checksum is a second reading
    index = SentenceIndex()
    exclusions = [_exclude(path, index) for path in _shown(exclude, progress, "excluded files")]
    pool: list[str] = []
    parts: list[list[str]] = []
    seen: set[str] = set()
    for source in _shown(sources, progress, "inputs"):
        part = list(_usable(source, seen, index))
        chosen = [text for text in part if place_of_text(text) < held_out]
        source.count(Left.HELD_OUT, len(chosen))
        pool += chosen
        parts.append([text for text in part if place_of_text(text) >= held_out])
    del seen
    near = SentenceIndex()
    for text in pool:
        near.add(text, Left.HELD_OUT)
    train: list[str] = []
    for source, part in zip(sources, _shown(parts, progress, "held-out sentences"), strict=True):
        kept = [text for text in part if near.find(text) is None]
        source.count(Left.NEAR_HELD_OUT, len(part) - len(kept))
        source.texts, source.characters = len(kept), sum(map(len, kept))
        train += kept * source.repeats
    if not train:
        raise CNMError(Errors.E316.format(names=", ".join(source.name for source in sources)))
    random.Random(seed).shuffle(train)
    characters: Counter[str] = Counter()
    for text in _shown(train, progress, "characters"):
        characters.update(text)
    settings = {"held out": held_out, "seed": seed}
    return PretrainingText(
        sources, exclusions, train, sorted(pool, key=place_of_text), characters, settings
    )


def write_pretraining_text(
    corpus: PretrainingText, folder: _Path, *, max_ideographs: int | None = None
) -> dict[str, Any]:
    """Write `train.txt`, `heldout.txt`, `rare.txt`, `characters.tsv` and `report.json`.

    They are made in a folder beside the target and moved when all are complete. Same corpus, same
    bytes.

    corpus: what `load_pretraining_text` gives.
    folder: where to write; other files in it stay.
    max_ideographs: ideographs of the vocabulary, the most frequent ones of train.txt; rare.txt has
        the held-out texts with one beyond them. Default: with one that train.txt has not at all.
    RETURNS: the report.
    RAISES CNMError: it cannot be written.
    """
    check_folder(folder, FILES)
    held_out = corpus.held_out[:MAX_EVALUATED]
    frequent = _most_frequent_ideographs(corpus.characters, max_ideographs)
    rare = [text for text in corpus.held_out if _has_other(text, frequent)][:MAX_EVALUATED]
    files = {"train": corpus.train, "heldout": held_out, "rare": rare}
    report = {
        "inputs": [source.to_dict() for source in corpus.sources],
        "excluded": corpus.exclusions,
        "settings": {**corpus.settings, "ideographs": max_ideographs},
        "written": {
            f"{name}.txt": {"texts": len(texts), "characters": sum(map(len, texts))}
            for name, texts in files.items()
        },
    }
    # A control character would break its line.
    shown = [item for item in corpus.characters.items() if category(item[0]) != "Cc"]
    counts = sorted(shown, key=lambda item: (-item[1], item[0]))
    with atomic_folder(folder, keep_others=True) as temporary:
        for name, texts in files.items():
            _write_lines(texts, temporary / f"{name}.txt")
        _write_lines((f"{char}\t{n}" for char, n in counts), temporary / "characters.tsv")
        write_json(report, temporary / "report.json")
    return report


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
            source.count(Left.NO_LETTER)
        elif text in seen:
            source.count(Left.DUPLICATE)
        elif (owner := index.find(text)) is not None:
            source.count(Left.EXCLUDED)
            source.excluded_by[owner] += 1
        else:
            seen.add(text)
            yield text


def _most_frequent_ideographs(counts: Counter[str], limit: int | None) -> frozenset[str]:
    ideographs = sorted(filter(is_ideograph, counts), key=lambda char: (-counts[char], char))
    return frozenset(ideographs[:limit])


def _has_other(text: str, known: frozenset[str]) -> bool:
    """Whether a text has an ideograph that is neither known nor a form of a known one."""
    return any(is_ideograph(char) and unify(char) not in known for char in set(text))


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
