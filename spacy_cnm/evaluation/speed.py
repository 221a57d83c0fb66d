"""Run a pipeline over texts once, and say how long that took."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import CupyOps, get_current_ops

#: Texts that are run before the clock starts: first calls allocate memory and fill caches.
WARM_UP = 32


@dataclass(frozen=True)
class Speed:
    """How fast a whole pipeline was, from raw texts to documents.

    seconds: wall-clock time of all texts, after the warm-up.
    docs, characters: what was run in that time.
    device: name of the GPU, or the kind of device ("cpu").
    threads: threads that torch may use.
    batch_size: documents a batch.
    """

    seconds: float
    docs: int
    characters: int
    device: str
    threads: int
    batch_size: int

    @property
    def characters_per_second(self) -> float:
        """Characters in a second."""
        return self.characters / self.seconds if self.seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give the measurement for a JSON file."""
        return asdict(self) | {"characters_per_second": self.characters_per_second}


def run(
    nlp: Language, texts: Sequence[str], *, batch_size: int | None = None
) -> tuple[list[Doc], Speed]:
    """Run a pipeline over texts with `nlp.pipe`, in one process.

    nlp: the pipeline.
    texts: raw texts.
    batch_size: documents a batch; default: the pipeline's own.
    RETURNS: the documents without their transformer output (which would fill the memory), and
        the speed.
    """
    batch_size = batch_size or nlp.batch_size
    for _ in nlp.pipe(texts[:WARM_UP], batch_size=batch_size):
        pass
    docs = []
    start = time.perf_counter()
    for doc in nlp.pipe(texts, batch_size=batch_size):
        if Doc.has_extension("trf_data"):
            doc._.trf_data = None
        docs.append(doc)
    seconds = time.perf_counter() - start
    speed = Speed(
        seconds=seconds,
        docs=len(docs),
        characters=sum(map(len, texts)),
        device=_device(),
        threads=torch.get_num_threads(),
        batch_size=batch_size,
    )
    return docs, speed


def _device() -> str:
    ops = get_current_ops()
    return torch.cuda.get_device_name() if isinstance(ops, CupyOps) else ops.device_type
