"""Evaluate a pipeline on a test file, beside other segmenters."""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.training import Example

from spacy_cnm.corpora import jieba_baseline
from spacy_cnm.corpora.docs import read_docs
from spacy_cnm.errors import CNMError, Errors

from .gold import Gold, count_gold, read_gold
from .pipelines import check_lengths, full_name, load_pipeline
from .scores import Scores, score
from .speed import Speed, run

#: What `baseline` may be.
BASELINES = ("auto", "jieba", "none")
_PACKAGES = ("spacy", "spacy-cnm", "spacy-transformers", "torch", "transformers")


@dataclass
class Evaluation:
    """A pipeline's results on one test file.

    name, version: of the pipeline.
    components: names of its components, in order.
    gold: the test file.
    scores: what the pipeline got.
    speed: how fast it was.
    segmenters: other segmenters -> `word_p`, `word_r`, `word_f` on the same words.
    unseen: the test documents whose text the training file lacks, and the scores on these; None
        where no training file is given.
    """

    name: str
    version: str
    components: list[str]
    gold: Gold
    scores: Scores
    speed: Speed
    segmenters: dict[str, dict[str, float]]
    unseen: tuple[Gold, Scores] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give everything for a JSON file, with the versions of the packages at work."""
        unseen = {}
        if self.unseen is not None:
            gold, scores = self.unseen
            unseen = {"unseen": {"test": gold.to_dict(), "scores": scores.values}}
        return {
            **unseen,
            "model": {"name": self.name, "version": self.version, "pipeline": self.components},
            "test": self.gold.to_dict(),
            "scores": self.scores.values,
            "missing": self.scores.missing,
            "speed": self.speed.to_dict(),
            "segmenters": self.segmenters,
            "versions": {package: metadata.version(package) for package in _PACKAGES},
        }


def evaluate(
    model: str,
    test: Path,
    *,
    baseline: str = "auto",
    train: Path | None = None,
    gpu_id: int = -1,
    batch_size: int | None = None,
) -> Evaluation:
    """Run a pipeline once over the raw texts of a test file and score what comes out.

    model: folder or package name of the pipeline.
    test: `.spacy` file of reference documents; words as joint labels.
    baseline: "jieba" to score jieba (and pkuseg where it is installed) on the same words, "none"
        not to, "auto" to do it where rjieba is installed and the file has words.
    train: `.spacy` file of training documents: score also without the test documents whose text,
        but for white space, is there too.
    gpu_id: number of the GPU, -1 for the CPU.
    batch_size: documents a batch; default: the pipeline's own.
    RETURNS: the results.
    RAISES: CNMError when the pipeline or the file is not there or cannot be used, or when the
        baseline that is asked for cannot be had.
    """
    if baseline not in BASELINES:
        raise CNMError(Errors.E414.format(baseline=baseline, known=", ".join(BASELINES)))
    gold = read_gold(test)
    seen = None if train is None else {_letters(doc.text) for doc in read_docs(train)}
    nlp = load_pipeline(model, gpu_id=gpu_id)
    check_lengths(nlp, (doc.text for doc in gold.docs))
    segmenters = _score_segmenters(gold, baseline, test)
    predicted, speed = run(nlp, [doc.text for doc in gold.docs], batch_size=batch_size)
    examples = [Example(*pair) for pair in zip(predicted, gold.docs, strict=True)]
    return Evaluation(
        name=full_name(nlp),
        version=nlp.meta["version"],
        components=list(nlp.pipe_names),
        gold=gold,
        scores=score(nlp, examples, gold),
        speed=speed,
        segmenters=segmenters,
        unseen=None if seen is None else _score_unseen(nlp, examples, gold, seen),
    )


def _score_unseen(
    nlp: Language, examples: list[Example], gold: Gold, seen: set[str]
) -> tuple[Gold, Scores]:
    kept = [example for example in examples if _letters(example.reference.text) not in seen]
    part = count_gold(gold.source, [example.reference for example in kept])
    return part, score(nlp, kept, part)


def _letters(text: str) -> str:
    return "".join(text.split())


def _score_segmenters(gold: Gold, baseline: str, test: Path) -> dict[str, dict[str, float]]:
    if baseline == "none":
        return {}
    if baseline == "auto" and not (gold.words and jieba_baseline.is_installed()):
        return {}
    if not gold.words:
        raise CNMError(Errors.E312.format(path=test))
    found = {}
    for name, segment in jieba_baseline.segmenters().items():
        values = jieba_baseline.score(gold.docs, segment)
        found[name] = dict(zip(("word_p", "word_r", "word_f"), values, strict=True))
    return found
