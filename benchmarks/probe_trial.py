"""One probe with other settings than the study's, on the OOV slice: what would help an encoder?

    python benchmarks/probe_trial.py models/cnm-bert-mini --labels ../shared/corpora/probe
      --tiers ../shared/corpora/freq/tongyong_guifan_2013.tsv --set balance=0.5 --set epochs=8

`--structure` probes the structure vectors themselves with linear heads, not what the Transformer
makes of them; `--operators 30` multiplies the operator embeddings of the encoder beforehand.
"""

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from torch.nn import functional as F

from spacy_cnm.probing.encoders import load_encoder
from spacy_cnm.probing.labels import read_labels
from spacy_cnm.probing.probe import DEFAULTS, Protocol, Training, predict, score, train
from spacy_cnm.probing.splits import LONG_TAIL, read_tiers
from spacy_cnm.probing.study import make_study
from spacy_cnm.probing.subject import OOV


def main(
    encoder: Annotated[Path, typer.Argument(help="Folder of an encoder or of a variant.")],
    labels: Annotated[Path, typer.Option(help="Folder of the labels.")],
    tiers: Annotated[Path, typer.Option(help="Characters with their tier.")],
    setting: Annotated[
        list[str], typer.Option("--set", metavar="KEY=NUMBER", help="A field of `Training`.")
    ] = [],  # noqa: B006
    structure: Annotated[
        bool, typer.Option("--structure", help="Probe structure vectors, frozen.")
    ] = False,
    operators: Annotated[float, typer.Option(help="Factor on the operator embeddings.")] = 1.0,
    split: Annotated[str, typer.Option(help="Name of the split.")] = LONG_TAIL,
    seed: Annotated[int, typer.Option(help="Of the probe.")] = 0,
) -> None:
    """Train a probe and print its scores."""
    torch.set_num_threads(1)
    subject = make_study(read_labels(labels), read_tiers(tiers), {"x": encoder}, {}, 1).subject
    chosen, asked = subject.splits[split], subject.slices[split][OOV]
    model, tokenizer = load_encoder(encoder, seed)
    model.structure.operator_embeddings.weight.data *= operators
    protocol: Protocol = "frozen" if structure else "fine-tuned"
    known = None
    if structure:
        chars = (*chosen.train, *chosen.dev, *chosen.test)
        ids = torch.tensor(tokenizer.convert_tokens_to_ids(list(chars)))
        with torch.no_grad():
            vectors = model.structure(model.structure_rows(ids))
        # The heads are as wide as the encoder; zeros change nothing.
        vectors = F.pad(vectors, (0, model.config.hidden_size - vectors.shape[1]))
        known = dict(zip(chars, vectors, strict=True))
    probe = train(
        model,
        tokenizer,
        subject.labels,
        chosen,
        protocol,
        seed=seed,
        training=_training(protocol, setting),
        known=known,
    )
    for name, value in score(predict(probe, asked, known), subject.labels, asked).items():
        typer.echo(f"{name} {value:.3f}")


def _training(protocol: Protocol, settings: list[str]) -> Training:
    kinds = {field.name: field.type for field in fields(Training)}
    values = dict(text.partition("=")[::2] for text in settings)
    changed: dict[str, Any] = {
        key: (int if kinds[key] is int else float)(value) for key, value in values.items()
    }
    return replace(DEFAULTS[protocol], **changed)


if __name__ == "__main__":
    typer.run(main)
