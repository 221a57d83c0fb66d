"""The NER converter: which reader a format has, and from a file to `.spacy`."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_path, check_outputs, check_regular

from .char_bio import read_char_bio
from .docs import Summary, write_docs, write_json
from .plain_text import write_texts
from .records import Record, Rejected
from .report import MAX_BAD, MAX_REPAIRED, Report, usable
from .text_files import read_lines
from .weibo import looks_like_weibo, read_weibo

#: format name -> reader. A further format is one more line here.
READERS: dict[str, Callable[[str | os.PathLike[str]], Iterator[Record | Rejected]]] = {
    "bio": read_char_bio,
    "weibo": read_weibo,
}


def convert_ner(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    text: str | os.PathLike[str] | None = None,
    format: str = "auto",
    max_bad: float = MAX_BAD,
    max_repaired: float = MAX_REPAIRED,
    progress: bool = False,
) -> tuple[Report, Summary]:
    """Convert a character-level NER file to a `.spacy` file, with a report beside it.

    source: the file to read.
    target: the `.spacy` file to write; the report is `<stem>.report.json` in the same folder.
    text: where to write the plain text too, one sentence a line, or None.
    format: "bio", "weibo", or "auto" to tell by the tokens.
    max_bad: largest share (0..1) of unusable or doubtful sentences.
    max_repaired: largest share (0..1) of repaired sentences.
    progress: show a progress bar on standard error.
    RETURNS: the counts of the input and of the output.
    RAISES: CNMError for an unknown format, an unreadable file, outputs that cannot be written, or
        too many bad sentences; nothing is written then.
    """
    target = Path(target)
    outputs = [target, target.parent / f"{target.stem}.report.json"]
    if text is not None:
        outputs.append(Path(text))
    check_outputs([source], files=outputs)
    if format == "auto":
        check_regular(source)
        format = "weibo" if looks_like_weibo(read_lines(source)) else "bio"
    if format not in READERS:
        raise CNMError(Errors.E307.format(format=format, known=", ".join(["auto", *READERS])))
    report = Report(os.fspath(source))
    records = list(usable(READERS[format](source), report))
    report.check(max_bad, max_repaired)
    with ExitStack() as stack:  # all are complete before the first one takes its place
        new_target, new_report, *new_texts = (
            stack.enter_context(atomic_path(path)) for path in outputs
        )
        summary = write_docs(records, new_target, title=target.name, progress=progress)
        for new_text in new_texts:
            write_texts(records, new_text)
        content = {"format": format, "input": report.to_dict(), "written": summary.to_dict()}
        write_json(content, new_report)
    return report, summary
