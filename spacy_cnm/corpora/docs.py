"""The one writer: records become spaCy documents and `.spacy` files; and the reader of those."""

import json
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab
from tqdm import tqdm

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_path, check_outputs

from .records import Record
from .segmentation import BEGIN, INSIDE

#: What a reference document carries; the rest would be columns of zeros in the file.
_ATTRS = ("TAG", "ENT_IOB", "ENT_TYPE")


@dataclass
class Summary:
    """Counts of what was written: documents, characters, words, and spans by label."""

    docs: int = 0
    characters: int = 0
    words: int = 0
    entities: Counter[str] = field(default_factory=Counter)
    cats: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        """Count one record."""
        self.docs += 1
        self.characters += len(record.text)
        self.words += len(record.words or ())
        self.entities.update(span.label for span in record.entities or ())
        self.cats.update(label for label, value in (record.cats or {}).items() if value)

    def to_dict(self) -> dict[str, Any]:
        """Give the counts for a JSON file."""
        return {
            "docs": self.docs,
            "characters": self.characters,
            "words": self.words,
            "entities": dict(sorted(self.entities.items())),
            "cats": dict(sorted(self.cats.items())),
        }

    def __str__(self) -> str:
        parts = [f"{self.docs} documents", f"{self.characters} characters"]
        if self.words:
            parts.append(f"{self.words} words")
        for counter in (self.entities, self.cats):
            parts += [f"{label} {count}" for label, count in sorted(counter.items())]
        return ", ".join(parts)


def reference_nlp() -> Language:
    """Give the pipeline whose tokenizer makes the reference documents: Chinese, by character."""
    return spacy.blank("zh")


def make_doc(nlp: Language, record: Record) -> Doc:
    """Make the reference document of a record, tokenised as the pipeline itself would.

    Entities become `doc.ents` (all other tokens are O), words become joint labels in `tag_`
    (`B-n`, `I-n`; see `spacy_cnm.corpora.segmentation`), categories become `doc.cats`. An
    annotation that is None stays missing in the document. A white-space token has no tag, even
    where the source calls it a word.

    nlp: the pipeline whose `make_doc` tokenises; its tokens must be single characters.
    record: a usable record (see `records.unusable_reason`).
    RETURNS: a document with `doc.text == record.text`.
    """
    doc = nlp.make_doc(record.text)
    starts = {token.idx: token.i for token in doc}
    ends = {token.idx + len(token): token.i + 1 for token in doc}
    if record.entities is not None:
        spans = [Span(doc, starts[s.start], ends[s.end], label=s.label) for s in record.entities]
        doc.set_ents(spans, default="outside")
    for word in record.words or ():
        if record.text[word.start : word.end].isspace():
            continue
        first = starts[word.start]
        for i in range(first, ends[word.end]):
            doc[i].tag_ = (BEGIN if i == first else INSIDE) + word.label
    if record.cats is not None:
        doc.cats = dict(record.cats)
    if record.sentences is not None:
        # A space at the start of a sentence may belong to the token before.
        offsets = [token.idx for token in doc]
        begin = {bisect_left(offsets, start) for start in record.sentences}
        for token in doc:
            token.is_sent_start = token.i in begin
    return doc


def write_docs(
    records: Sequence[Record],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    progress: bool = False,
) -> Summary:
    """Write records as one `.spacy` file, in their order. Same records, same bytes.

    records: usable records.
    path: the file; it appears when it is complete.
    title: name of the progress bar; default: the file's.
    progress: show a progress bar on standard error.
    RETURNS: counts of what was written.
    RAISES: CNMError when the file cannot be written.
    """
    check_outputs([], files=[path])
    nlp = reference_nlp()
    summary = Summary()
    with_sentences = any(record.sentences is not None for record in records)
    doc_bin = DocBin(attrs=[*_ATTRS, "SENT_START"] if with_sentences else _ATTRS)
    shown: Iterable[Record] = records
    if progress:
        # disable=None: no bar where standard error is not a terminal
        shown = tqdm(records, desc=title or os.path.basename(path), unit="doc", disable=None)
    for record in shown:
        doc_bin.add(make_doc(nlp, record))
        summary.add(record)
    with atomic_path(path) as temporary:
        temporary.write_bytes(doc_bin.to_bytes())
    return summary


def read_docs(path: str | os.PathLike[str]) -> list[Doc]:
    """Read the documents of a `.spacy` file.

    path: the file.
    RETURNS: the documents in order, with a vocabulary of their own.
    RAISES: CNMError when the file cannot be read or is no such file.
    """
    try:
        return list(DocBin().from_disk(Path(path)).get_docs(Vocab()))
    except OSError as error:
        raise CNMError(Errors.E301.format(path=path, reason=error.strerror or error)) from error
    except Exception as error:  # zlib, msgpack and numpy each have their own for a damaged file
        raise CNMError(Errors.E311.format(path=path, reason=error)) from error


def write_json(
    content: dict[str, Any], path: str | os.PathLike[str], *, sort_keys: bool = False
) -> None:
    """Write a report as JSON (UTF-8, indented), with its keys in the order given or sorted."""
    with atomic_path(path) as temporary:
        text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=sort_keys)
        temporary.write_text(text + "\n", encoding="utf-8")
