"""`spacy-cnm wrap` and `spacy-cnm new`: encoder checkpoints as Hugging Face folders."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_folder, check_outputs

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from spacy_cnm.modeling.model import CNMBertPreTrainedModel

Table = Annotated[
    Path | None, typer.Option(help="Structure table made by 'ids build'. Default: the shipped one.")
]
StructureSize = Annotated[int, typer.Option(min=1, help="Width of the structure vectors.")]
Force = Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random weights.")]


def wrap(
    bases: Annotated[
        list[str],
        typer.Argument(
            metavar="BASE...",
            help="A BERT or CNM-BERT: folder or hub name. Of several, the first that is there.",
        ),
    ],
    out: Annotated[Path, typer.Argument(help="Folder to write.")],
    table: Table = None,
    structure_size: Annotated[
        int | None, typer.Option(min=1, help="Width of the structure vectors. Default: 256.")
    ] = None,
    fusion_layer_norm: Annotated[
        bool, typer.Option("--fusion-layer-norm", help="The LayerNorm of the paper's equation 5.")
    ] = False,
    keep: Annotated[
        Literal["encoder", "masked-lm", "pretraining"],
        typer.Option(help="The encoder alone, with its masked-LM head, or with both heads."),
    ] = "encoder",
    half: Annotated[bool, typer.Option("--half", help="Store weights in 16 bits.")] = False,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Save a CNM-BERT made of a plain Chinese BERT: same outputs at first, structure to be learned.

    What is a CNM-BERT already is saved as it is, without the heads that are not kept.
    """
    base = next(filter(os.path.isdir, bases), bases[-1])
    _check_out(out, [base, *([table] if table else [])], force)
    import torch

    from spacy_cnm import modeling

    classes: dict[str, type[CNMBertPreTrainedModel]] = {
        "encoder": modeling.CNMBertModel,
        "masked-lm": modeling.CNMBertForMaskedLM,
        "pretraining": modeling.CNMBertForPreTraining,
    }
    settings: dict[str, Any] = {
        "table": table,
        "structure_size": structure_size,
        "fusion_layer_norm": fusion_layer_norm or None,
    }
    torch.manual_seed(seed)
    model, tokenizer = modeling.load_or_wrap(
        base,
        cls=classes[keep],
        structure_config={key: value for key, value in settings.items() if value is not None},
    )
    if len(bases) > 1:
        typer.echo(f"Taking {base}")
    _save(model.half() if half else model, tokenizer, out)


def new(
    texts: Annotated[
        list[Path],
        typer.Argument(metavar="TEXT...", help="Texts to count: .txt or .jsonl, also .gz or .xz."),
    ],
    out: Annotated[Path, typer.Argument(help="Folder to write.")],
    layers: Annotated[int, typer.Option(min=1, help="Transformer layers.")] = 4,
    width: Annotated[int, typer.Option(min=64, help="Hidden size, a multiple of 64.")] = 256,
    min_count: Annotated[
        int, typer.Option(min=1, help="Occurrences that a character of the vocabulary needs.")
    ] = 3,
    han: Annotated[
        int | None, typer.Option(min=1, help="Ideographs of the vocabulary at most.")
    ] = None,
    pieces: Annotated[
        int, typer.Option(min=0, help="Word pieces of letters (Latin ...) to train on the texts.")
    ] = 0,
    max_length: Annotated[int, typer.Option(min=16, help="Word pieces a row at most.")] = 512,
    structure_size: StructureSize = 256,
    structure_scale: Annotated[
        float, typer.Option(min=0.0, help="Factor on the structure vectors before the fusion.")
    ] = 0.04,
    learn_structure_scale: Annotated[
        bool, typer.Option("--learn-structure-scale", help="Let training change that factor.")
    ] = False,
    fusion_layer_norm: Annotated[
        bool, typer.Option(help="The LayerNorm of the paper's equation 5.")
    ] = True,
    operator_std: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Standard deviation of the operator embeddings; 1 makes layouts easier to tell.",
        ),
    ] = None,
    table: Table = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make a small untrained encoder whose vocabulary comes from your texts."""
    _check_out(out, [*texts, *([table] if table else [])], force)
    if width % 64:
        raise CNMError(Errors.E402.format(width=width))
    from tqdm import tqdm

    from spacy_cnm.corpora.text_streams import read_lines
    from spacy_cnm.ids import StructureTable
    from spacy_cnm.modeling.scratch import new_encoder
    from spacy_cnm.modeling.vocabulary import base_vocabulary, count_texts

    lines = tqdm((line for path in texts for line in read_lines(path)), desc="texts", disable=None)
    vocabulary = base_vocabulary(
        count_texts(lines), min_count=min_count, max_ideographs=han, n_pieces=pieces
    )
    model, tokenizer = new_encoder(
        vocabulary,
        n_layers=layers,
        width=width,
        max_length=max_length,
        seed=seed,
        table=StructureTable.load(table) if table else None,
        operator_std=operator_std,
        structure_size=structure_size,
        structure_scale=structure_scale,
        learn_structure_scale=learn_structure_scale,
        fusion_layer_norm=fusion_layer_norm,
    )
    _save(model, tokenizer, out)


def _check_out(out: Path, inputs: Iterable[str | Path], force: bool) -> None:
    """Check that a folder may be written; of those that exist only encoders are ever replaced."""
    if out.exists() and not force:
        raise CNMError(Errors.E401.format(path=out))
    check_outputs(inputs, folder=out)
    if out.exists() and any(out.iterdir()) and not _is_encoder(out):
        raise CNMError(Errors.E403.format(path=out))


def _is_encoder(folder: Path) -> bool:
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and config.get("model_type") == "cnm_bert"


def _save(model: "PreTrainedModel", tokenizer: "PreTrainedTokenizerFast", out: Path) -> None:
    from spacy_cnm.modeling.checkpoint import write_model
    from spacy_cnm.modeling.summary import summarize

    with atomic_folder(out) as folder:
        write_model(folder, model, tokenizer)
    typer.echo(summarize(model))
    typer.echo(f"Saved to {out}")
