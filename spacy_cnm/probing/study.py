"""Many probes: each encoder on each split, by each protocol, with several seeds, in processes.

What is done lies in one JSON file a probe, so that a study that was stopped goes on where it was.
Results are read from these files alone.
"""

import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, FiniteFloat, ValidationError
from tqdm import tqdm

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.evaluation.vocabulary import Vocabulary
from spacy_cnm.files import atomic_path, make_folder
from spacy_cnm.ids import StructureTable
from spacy_cnm.modeling.hardware import cpu_has_bfloat16

from . import metrics
from .encoders import first_fault, load_encoder, weights_checksum
from .labels import LAYOUTS, Labels
from .lookup import LOOKUP, look_up
from .probe import DEFAULTS, PROTOCOLS, Protocol, Training, encode_all, predict, score, train
from .splits import LONG_TAIL
from .subject import OOV, Subject, make_subject


@dataclass(frozen=True)
class Job:
    """Probes of one encoder that share a process.

    model, folder: the encoder's name in the study, and where it is.
    seeds: those that are to be done.
    """

    model: str
    folder: Path
    split: str
    protocol: Protocol
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Study:
    """What is compared on what.

    encoders: name -> folder of those that are probed on every split.
    ablations: name -> folder of those that are probed on the long tail only, or on what there is.
    seeds: those of each probe.
    """

    subject: Subject
    encoders: dict[str, Path]
    ablations: dict[str, Path]
    seeds: tuple[int, ...]

    def jobs(self) -> Iterator[Job]:
        """What is to be done."""
        splits = list(self.subject.splits)
        long_tail = [split for split in splits if split == LONG_TAIL] or splits
        for models, asked in ((self.encoders, splits), (self.ablations, long_tail)):
            for name, folder in models.items():
                for split in asked:
                    for protocol in PROTOCOLS:
                        yield Job(name, folder, split, protocol, self.seeds)


def make_study(
    labels: Mapping[str, Labels],
    tiers: Mapping[str, int],
    encoders: dict[str, Path],
    ablations: dict[str, Path],
    seeds: int,
) -> Study:
    """Make a study; OOV is what the vocabulary of none of the encoders has.

    labels, tiers: character -> its labels, its tier of frequency; those without a label are left
        out.
    seeds: how many.
    RAISES CNMError: an encoder cannot be loaded, or there are too few characters.
    """
    labels = {char: known for char, known in labels.items() if known != Labels()}
    known: set[str] = set()
    for folder in (encoders | ablations).values():
        model, tokenizer = load_encoder(folder)
        vocabulary = Vocabulary(tokenizer, model.config.vocab_size)
        known |= {char for char in labels if not vocabulary.lacks(char)}
    subject = make_subject(labels, tiers, known, StructureTable.default())
    if not subject.splits:
        raise CNMError(Errors.E605)
    return Study(subject, encoders, ablations, tuple(range(seeds)))


def run(
    out: Path,
    study: Study,
    *,
    processes: int,
    training: Mapping[Protocol, Training] = DEFAULTS,
) -> list[dict[str, Any]]:
    """Do what is missing of a study, and look the answers up in the IDS.

    out: folder for the files of the probes; made if need be.
    processes: how many work at a time, each with one thread.
    RETURNS: what the files of the study's probes hold.
    RAISES CNMError: a file there is of other weights, settings or questions.
    """
    make_folder(out)
    jobs = list(study.jobs())
    checksums = {folder: weights_checksum(folder) for folder in {job.folder for job in jobs}}
    work = _Work(out, study.subject, checksums, dict(training))
    if missing := list(work.missing(jobs)):
        _in_processes(work, missing, processes)
    paths = [work.path(job, seed) for job in jobs for seed in job.seeds]
    return [*_looked_up(study.subject), *map(_read, paths)]


def _looked_up(subject: Subject) -> Iterator[dict[str, Any]]:
    """What the IDS alone gets, as if it were a probe."""
    for name, split in subject.splits.items():
        told = look_up(split.test, StructureTable.default())
        settings = {"model": LOOKUP, "split": name, "protocol": LOOKUP}
        yield {"settings": settings, **_scores(told, subject, name)}


@dataclass(frozen=True)
class _Work:
    """What every job needs, in whatever process it is done.

    checksums: folder of an encoder -> `weights_checksum`.
    """

    out: Path
    subject: Subject
    checksums: Mapping[Path, str]
    training: Mapping[Protocol, Training]

    def path(self, job: Job, seed: int) -> Path:
        """The file of a probe."""
        return self.out / f"{job.split}-{job.protocol}-{job.model}-{seed}.json"

    def settings(self, job: Job, seed: int) -> dict[str, Any]:
        """What a probe depends on, and what it is called."""
        return {
            "model": job.model,
            "weights": self.checksums[job.folder],
            "split": job.split,
            "protocol": job.protocol,
            "seed": seed,
            "training": asdict(self.training[job.protocol]),
            "subject": self.subject.checksum(job.split),
        }

    def missing(self, jobs: Sequence[Job]) -> Iterator[Job]:
        """Jobs with the seeds that are not done: fine-tuned ones first, one by one."""
        for job in sorted(jobs, key=lambda job: job.protocol == "frozen"):
            seeds = []
            for seed in job.seeds:
                wanted, path = self.settings(job, seed), self.path(job, seed)
                if not path.exists():
                    seeds.append(seed)
                elif (found := _read(path)["settings"]) != wanted:
                    changed = [key for key in wanted if found.get(key) != wanted[key]]
                    raise CNMError(Errors.E603.format(path=path, changed=", ".join(changed)))
            # Frozen ones share the vectors of the characters.
            groups = [tuple(seeds)] if job.protocol == "frozen" else [(seed,) for seed in seeds]
            yield from (replace(job, seeds=group) for group in groups if group)

    def do(self, job: Job) -> None:
        """Do the probes of a job, one after the other, and write their files."""
        split, known = self.subject.splits[job.split], None
        for seed in job.seeds:
            start = time.perf_counter()
            frozen = job.protocol == "frozen"
            if not frozen or known is None:
                model, tokenizer = load_encoder(job.folder, 0 if frozen else seed)
            if frozen and known is None:
                chars = (*split.train, *split.dev, *split.test)
                known = dict(zip(chars, encode_all(model, tokenizer, chars), strict=True))
            probe = train(
                model,
                tokenizer,
                self.subject.labels,
                split,
                job.protocol,
                seed=seed,
                training=self.training[job.protocol],
                known=known,
            )
            content = {
                "settings": self.settings(job, seed),
                "precision": "bf16" if cpu_has_bfloat16() and not frozen else "fp32",
                "seconds": round(time.perf_counter() - start, 1),
                **_scores(predict(probe, split.test, known), self.subject, job.split),
            }
            with atomic_path(self.path(job, seed)) as temporary:
                temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _in_processes(work: _Work, missing: Sequence[Job], processes: int) -> None:
    """Do jobs in processes, which are ended if one of them fails."""
    workers = ProcessPoolExecutor(
        min(processes, len(missing)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(work,),
    )
    total = sum(len(job.seeds) for job in missing)
    bar = tqdm(total=total, unit="probe", mininterval=0.1 if sys.stderr.isatty() else 30)
    finished = False
    try:
        futures = {workers.submit(_do, job): len(job.seeds) for job in missing}
        for future in as_completed(futures):
            future.result()
            bar.update(futures[future])
        finished = True
    except BrokenProcessPool as error:
        raise CNMError(Errors.E609) from error
    finally:
        bar.close()
        workers.shutdown(wait=finished, cancel_futures=True)
        if not finished:
            # What they are at would go on to its end.
            for process in multiprocessing.active_children():
                process.terminate()


#: What `_start` leaves for the jobs of its process.
_work: _Work


def _start(work: _Work) -> None:
    """Prepare a process: one thread, and an end with the parent's."""
    global _work
    _work = work
    torch.set_num_threads(1)
    # The parent answers Ctrl-C for all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    """End this process when another one has: killed, it could not say so."""
    wait([sentinel])
    os._exit(1)


def _do(job: Job) -> None:
    _work.do(job)


def _scores(told: Mapping[str, Labels], subject: Subject, split: str) -> dict[str, Any]:
    """The scores of each slice, and F1 of each layout on the OOV slice."""
    slices = subject.slices[split]
    return {
        "scores": {
            name: {"n": len(chars), **score(told, subject.labels, chars)}
            for name, chars in slices.items()
        },
        "layouts": _by_layout(told, subject, slices.get(OOV, ())),
    }


def _by_layout(
    told: Mapping[str, Labels], subject: Subject, chars: Sequence[str]
) -> dict[str, float]:
    """F1 of each layout that some of the characters have."""
    pairs = [(subject.labels[char].layout, told[char].layout) for char in chars]
    known = [(gold, found) for gold, found in pairs if gold is not None and found is not None]
    if not known:
        return {}
    gold, found = zip(*known, strict=True)
    names = list(LAYOUTS)
    return {names[label]: metrics.class_f1(gold, found, label) for label in sorted(set(gold))}


class _Result(BaseModel):
    """What the file of a probe holds."""

    settings: dict[str, Any]
    scores: dict[str, dict[str, FiniteFloat]]
    layouts: dict[str, FiniteFloat]
    precision: str
    seconds: FiniteFloat


def _read(path: Path) -> dict[str, Any]:
    try:
        return _Result.model_validate_json(path.read_bytes()).model_dump()
    except ValidationError as error:
        what = first_fault(error)
    except OSError as error:
        what = str(error)
    raise CNMError(Errors.E604.format(path=path, what=what))
