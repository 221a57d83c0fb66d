"""What all converters share: from one file to `.spacy` files, with a report beside them."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_path, check_outputs, check_regular

from .docs import Summary, write_docs, write_json
from .documents import join_documents
from .plain_text import write_texts
from .records import Record, Rejected
from .report import MAX_BAD, MAX_REPAIRED, Report, usable
from .splits import DEV_SHARE, place_of_text

#: What turns a file into records.
Reader = Callable[[str | os.PathLike[str]], Iterator[Record | Rejected]]


def convert(
    read: Reader,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    text: str | os.PathLike[str] | None = None,
    dev: str | os.PathLike[str] | None = None,
    dev_share: float = DEV_SHARE,
    documents: bool = False,
    max_bad: float = MAX_BAD,
    max_repaired: float = MAX_REPAIRED,
    progress: bool = False,
    about: dict[str, Any] | None = None,
) -> tuple[Report, list[Summary]]:
    """Convert a file to a `.spacy` file, with a report beside it. The order stays that of the file.

    read: the reader of the format.
    source: the file to read.
    target: the `.spacy` file to write; the report is `<stem>.report.json` in the same folder.
    text: where to write the plain text of `target` too, a document a line, or None.
    dev: a second `.spacy` file, for the documents whose text has a SHA-256 (as a number of 0 to 1)
        below `dev_share`, or None. Same texts get to the same side.
    documents: one document for each document of the file, not for each sentence.
    max_bad: largest share (0..1) of unusable or doubtful sentences.
    max_repaired: largest share (0..1) of repaired sentences.
    progress: show progress bars on standard error.
    about: what else to put into the report file, first.
    RETURNS: the counts of the input, and those of `target` and of `dev`.
    RAISES: CNMError for an unreadable file, outputs that cannot be written, no document boundaries,
        a side without documents, or too many bad sentences; nothing is written then.
    """
    target = Path(target)
    docs = [target] if dev is None else [target, Path(dev)]
    texts = [] if text is None else [Path(text)]
    outputs = [*docs, target.parent / f"{target.stem}.report.json", *texts]
    check_outputs([source], files=outputs)
    check_regular(source)
    report = Report(os.fspath(source), format=(about or {}).get("format", ""))
    records = list(usable(read(source), report))
    report.check(max_bad, max_repaired)
    if not records:
        reasons = report.reasons(report.dropped)
        raise CNMError(Errors.E325.format(path=os.fspath(source), reasons=reasons))
    if documents:
        records = join_documents(records, report.source)
    parts = [records]
    if dev is not None:
        held = [place_of_text(record.text) < dev_share for record in records]
        parts = [
            [record for record, out in zip(records, held, strict=True) if out is side]
            for side in (False, True)
        ]
        for part, path in zip(parts, docs, strict=True):
            if not part:
                raise CNMError(Errors.E320.format(name=path.name, share=dev_share, n=len(records)))
    with ExitStack() as stack:  # all are complete before the first one takes its place
        news = [stack.enter_context(atomic_path(path)) for path in outputs]
        summaries = [
            write_docs(part, new, title=path.name, progress=progress)
            for part, new, path in zip(parts, news, docs, strict=False)
        ]
        new_report, *new_texts = news[len(docs) :]
        for new_text in new_texts:
            write_texts(parts[0], new_text)
        content = {**(about or {}), "input": report.to_dict(), "written": summaries[0].to_dict()}
        if dev is not None:
            content |= {"dev_share": dev_share, "dev": summaries[1].to_dict()}
        write_json(content, new_report)
    return report, summaries
