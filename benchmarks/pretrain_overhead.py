"""What structure costs in pretraining, and what the trainer gains over a plain loop.

    python benchmarks/pretrain_overhead.py --text TEXT --encoder FOLDER --precision bf16

Three models of one shape take turns in one process, a few optimizer steps each:

structure   a step of `spacy-cnm pretrain`: trees in the input, and the component loss
tokens      the same step with `use_structure = false`, on the same batches
plain       transformers' `BertForMaskedLM`, as a loop around `DataCollatorForWholeWordMask` has it:
            texts in random order, cut at the longest row, padded to the longest of the batch,
            logits and loss at every position; as many texts in a batch as give as many tokens

A token is a word piece that is no padding. Seconds are of the clock ("wall") and of the processor,
all threads together ("CPU"); where other programs use the machine too, trust the latter, and only
that of a run on CPUs. "Steps" take batches that are ready; "all" adds the time to make a batch:
tokenizing, finding words and masking for the first two; masking and padding for the last, whose
texts are tokenized and cut into words beforehand. The trainer makes batches in a thread of its own,
so with a spare core its speed is that of the steps. All numbers are medians over the rounds; the
two ratios are taken within each round. A slowdown is time added, in percent.

Every batch that is timed has been through each model once before: oneDNN, torch's library for
products on CPUs, compiles a kernel for every shape that it meets for the first time. And a turn
begins with a step that is not timed, since the model before it has left the caches to itself.
"""

import itertools
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import torch
import typer
from accelerate import Accelerator
from numpy.typing import NDArray
from transformers import (
    BertConfig,
    BertForMaskedLM,
    DataCollatorForWholeWordMask,
    PreTrainedTokenizerFast,
)

from spacy_cnm.corpora.text_streams import read_lines
from spacy_cnm.modeling import CNMBertConfig
from spacy_cnm.modeling.scratch import bert_tokenizer, new_encoder
from spacy_cnm.modeling.vocabulary import base_vocabulary, count_texts
from spacy_cnm.pretraining.batches import MicroBatch, Position
from spacy_cnm.pretraining.config import (
    DataSection,
    ModelSection,
    OptimizerSection,
    PretrainConfig,
    TrainingSection,
)
from spacy_cnm.pretraining.setup import make_stream, make_trainee
from spacy_cnm.pretraining.step import Trainee, train_step
from spacy_cnm.pretraining.words import piece_words

#: (2,) float: of the clock, of the processor.
Seconds: TypeAlias = NDArray[np.float64]


@dataclass
class Contestant:
    """One way to train.

    step: one optimizer step on a batch.
    batches: endless.
    making: seconds a token that it takes to make a batch.
    filled: share of the pieces that is no padding.
    rounds: seconds a token of the steps of each round.
    """

    step: Callable[[MicroBatch], None]
    batches: Iterator[MicroBatch]
    making: Seconds
    filled: float
    rounds: list[Seconds] = field(default_factory=list)

    def run(self, steps: int) -> Seconds:
        """Train, after a step that is not timed. RETURNS: seconds a token."""
        self.step(next(self.batches))
        begin, tokens = now(), 0
        for batch in itertools.islice(self.batches, steps):
            self.step(batch)
            tokens += batch.n_tokens
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return (now() - begin) / tokens


def main(
    text: Annotated[
        Path | None, typer.Option(help="Texts, one a line. Default: random ideographs.")
    ] = None,
    encoder: Annotated[
        Path | None, typer.Option(help="A CNM-BERT folder. Default: a new one for the texts.")
    ] = None,
    layers: Annotated[int, typer.Option(min=1, help="Layers of a new encoder.")] = 4,
    width: Annotated[int, typer.Option(min=64, help="Hidden size of a new encoder.")] = 256,
    max_length: Annotated[int, typer.Option(min=8, help="Word pieces a row at most.")] = 256,
    max_tokens: Annotated[int, typer.Option(min=8, help="Word pieces a batch at most.")] = 4096,
    precision: Annotated[Literal["fp32", "bf16"], typer.Option()] = "fp32",
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch and tokenizer.")] = 1,
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each model.")] = 12,
    steps: Annotated[int, typer.Option(min=1, help="Optimizer steps a turn.")] = 2,
    output: Annotated[Path | None, typer.Option("--json", help="File for the results.")] = None,
) -> None:
    """Measure tokens a second of pretraining with structure, without it, and in a plain loop."""
    torch.set_num_threads(threads)
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    with tempfile.TemporaryDirectory() as folder:
        text = text or write_text(Path(folder) / "text.txt")
        encoder = encoder or write_encoder(Path(folder) / "encoder", text, layers, width)
        data = DataSection(train=[text], max_length=max_length, max_tokens=max_tokens)
        contestants = make_contestants(encoder, data, precision, rounds * (1 + steps))
        for contestant in contestants.values():
            contestant.run(rounds * (1 + steps) - 1)
        for _ in range(rounds):
            for contestant in contestants.values():
                contestant.rounds.append(contestant.run(steps))
    results = summary(contestants)
    typer.echo(show(results))
    if output:
        settings: dict[str, Any] = {"max_length": max_length, "max_tokens": max_tokens}
        settings |= {"precision": precision, "threads": threads, "rounds": rounds, "steps": steps}
        machine = {"processor": platform.machine(), "torch": torch.__version__}
        if torch.cuda.is_available():
            machine["gpu"] = torch.cuda.get_device_name()
        content = {"settings": settings, "machine": machine, **results}
        output.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def make_contestants(
    encoder: Path, data: DataSection, precision: Literal["fp32", "bf16"], n_batches: int
) -> dict[str, Contestant]:
    """The three of them, on new weights of one shape.

    n_batches: how many batches are wanted of each.
    """
    accelerator = Accelerator(mixed_precision="no" if precision == "fp32" else precision)
    on_cpu = accelerator.device.type == "cpu"
    attention: Literal["eager", "sdpa"] = "eager" if on_cpu else "sdpa"
    contestants: dict[str, Contestant] = {}
    for name, use_structure in (("structure", True), ("tokens", False)):
        config = PretrainConfig(
            model=ModelSection(
                source=str(encoder), attention=attention, use_structure=use_structure
            ),
            data=data,
            optimizer=OptimizerSection(),
            training=TrainingSection(steps=n_batches, precision=precision),
        )
        trainee, tokenizer, _ = make_trainee(config)
        model = trainee.plain
        if not contestants:
            stream = make_stream(data, data.train, tokenizer)
            batches, making = timed(stream.batches(epochs=1))
        contestants[name] = Contestant(
            cnm_step(trainee, config.optimizer.clip_norm),
            itertools.cycle(batches[:n_batches]),
            making,
            filled(batches),
        )
    # What the vocabulary of the encoder lacks is [UNK] to a plain BERT.
    plain = bert_tokenizer(tokenizer.convert_ids_to_tokens(range(model.config.vocab_size)))
    rows = plain_rows(data, plain)
    mean = np.mean([len(row["input_ids"]) for row in rows])
    n_rows = round(np.mean([batch.n_tokens for batch in batches]) / mean)
    rows = rows[: n_rows * n_batches]
    plain_made, making = timed(plain_batches(rows, plain, n_rows, data.masked))
    contestants["plain"] = Contestant(
        plain_step(model.config, accelerator),
        itertools.cycle(plain_made),
        making,
        filled(plain_made),
    )
    return contestants


def cnm_step(trainee: Trainee, clip_norm: float) -> Callable[[MicroBatch], None]:
    """The trainer's step, with a micro-batch of its own."""

    def step(batch: MicroBatch) -> None:
        train_step(trainee, [batch], clip_norm=clip_norm)

    return step


def plain_step(shape: CNMBertConfig, accelerator: Accelerator) -> Callable[[MicroBatch], None]:
    """A step as it is usually written, on a new BERT of a CNM-BERT's shape."""
    known = BertConfig().to_dict().keys() - {"model_type", "architectures"}
    config = BertConfig(**{key: value for key, value in shape.to_dict().items() if key in known})
    device = accelerator.device
    model = BertForMaskedLM(config).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step(batch: MicroBatch) -> None:
        with accelerator.autocast():
            loss = model(
                input_ids=batch.input_ids.to(device),
                attention_mask=batch.attention_mask.to(device),
                labels=batch.labels.to(device),
            ).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def plain_rows(data: DataSection, tokenizer: PreTrainedTokenizerFast) -> list[dict[str, Any]]:
    """A row of each text, in random order, as `DataCollatorForWholeWordMask` takes them.

    RETURNS: input_ids, and in chinese_ref the places of pieces that go on with a word.
    """
    texts = [text for path in data.train for text in read_lines(path)]
    encoded = tokenizer(
        texts, truncation=True, max_length=data.max_length, return_offsets_mapping=True
    )
    rows = []
    for i in np.random.default_rng(0).permutation(len(texts)):
        starts = np.array([start for start, _ in encoded["offset_mapping"][i]][1:-1])
        words = piece_words([texts[i]], starts)
        inside = 2 + np.flatnonzero(words[1:] == words[:-1])
        rows.append({"input_ids": encoded["input_ids"][i], "chinese_ref": inside.tolist()})
    return rows


def plain_batches(
    rows: list[dict[str, Any]], tokenizer: PreTrainedTokenizerFast, n_rows: int, masked: float
) -> Iterator[MicroBatch]:
    """Batches of as many rows, as long as the longest of them, with masked words."""
    collate = DataCollatorForWholeWordMask(tokenizer, mlm_probability=masked)
    for start in range(0, len(rows) - n_rows + 1, n_rows):
        batch = collate(rows[start : start + n_rows])
        mask = (batch["input_ids"] != tokenizer.pad_token_id).long()
        yield MicroBatch(
            batch["input_ids"],
            batch["input_ids"],
            mask,
            batch["labels"],
            int(mask.sum()),
            Position(),
        )


def timed(batches: Iterable[MicroBatch]) -> tuple[list[MicroBatch], Seconds]:
    """Make batches. RETURNS: them, and seconds a token that it took."""
    begin = now()
    made = list(batches)
    return made, (now() - begin) / sum(batch.n_tokens for batch in made)


def now() -> Seconds:
    """Seconds of the clock and of the processor, since some moment."""
    return np.array([time.perf_counter(), time.process_time()])


def filled(batches: list[MicroBatch]) -> float:
    """The share of pieces that is no padding."""
    pieces = sum(batch.input_ids.numel() for batch in batches)
    return sum(batch.n_tokens for batch in batches) / pieces


def write_text(path: Path, n_texts: int = 4000) -> Path:
    """Write random ideographs, as frequent as Zipf's law has them, in texts of unequal length."""
    rng = np.random.default_rng(0)
    ideographs = np.array([chr(0x4E00 + i) for i in rng.permutation(8000)])
    frequencies = 1 / (10 + np.arange(len(ideographs)))
    frequencies /= frequencies.sum()
    lengths = np.clip(rng.lognormal(4.0, 0.5, n_texts), 5, 500).astype(int)
    texts = ["".join(rng.choice(ideographs, length, p=frequencies)) for length in lengths]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def write_encoder(folder: Path, text: Path, layers: int, width: int) -> Path:
    """Write an untrained encoder with the vocabulary of a text."""
    vocabulary = base_vocabulary(count_texts(read_lines(text)))
    model, tokenizer = new_encoder(vocabulary, n_layers=layers, width=width)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def summary(contestants: dict[str, Contestant]) -> dict[str, Any]:
    """Medians over the rounds; each number is a pair, by the clock and by the processor."""
    results: dict[str, Any] = {}
    seconds = {}
    for name, contestant in contestants.items():
        steps = np.array(contestant.rounds)
        seconds[name] = (steps, steps + contestant.making)
        results[name] = {
            "filled": round(contestant.filled, 3),
            "steps_tokens_per_second": median(1 / steps, 0),
            "all_tokens_per_second": median(1 / (steps + contestant.making), 0),
        }
    for key, (first, second) in {
        "structure_slowdown_percent": ("structure", "tokens"),
        "plain_to_structure": ("plain", "structure"),
    }.items():
        ratios = [a / b for a, b in zip(seconds[first], seconds[second], strict=True)]
        if key.endswith("percent"):
            ratios = [100 * (ratio - 1) for ratio in ratios]
        results[key] = {"steps": median(ratios[0], 2), "all": median(ratios[1], 2)}
    return results


def median(values: Seconds, digits: int) -> dict[str, float]:
    """Over the first axis of (rounds, 2)."""
    wall, cpu = np.median(values, axis=0).round(digits).tolist()
    return {"wall": wall, "cpu": cpu}


def show(results: dict[str, Any]) -> str:
    """The results as a table."""
    lines = [f"{'':32}{'steps':^22}{'all':^22}", f"{'':32}" + 2 * f"{'wall':>11}{'CPU':>11}"]
    for name in ("structure", "tokens", "plain"):
        row = results[name]
        label = f"{name}, tokens/s ({row['filled']:.0%} filled)"
        parts = (row["steps_tokens_per_second"], row["all_tokens_per_second"])
        lines.append(f"{label:32}" + "".join(f"{v:11,.0f}" for p in parts for v in p.values()))
    slowdown, ratio = results["structure_slowdown_percent"], results["plain_to_structure"]
    for label, row in (("slowdown by structure, %", slowdown), ("structure : plain", ratio)):
        parts = (row["steps"], row["all"])
        lines.append(f"{label:32}" + "".join(f"{v:11.2f}" for p in parts for v in p.values()))
    return "\n".join(lines)


if __name__ == "__main__":
    typer.run(main)
