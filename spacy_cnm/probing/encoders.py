"""Encoders that are probed: checkpoints, and variants that share all but the structure side.

A variant is a folder with `variant.json`: the encoder whose token embeddings and Transformer it has
(`base`, relative to the folder), what is fused (`structure_input`), whether nothing at all is
trained (`untrained`), and with which standard deviation operator embeddings begin
(`operator_std`). Beside it may lie `structure.safetensors`, the trained weights of structure
encoder and fusion, and `table.cnmids`, a structure table in place of the shipped one.
"""

import hashlib
import os
from dataclasses import asdict
from pathlib import Path

import srsly
import torch
from pydantic import ConfigDict, PositiveFloat, ValidationError
from pydantic.dataclasses import dataclass
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import PreTrainedTokenizerFast

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_folder
from spacy_cnm.ids import StructureTable
from spacy_cnm.modeling import CNMBertForPreTraining, CNMBertModel, load_or_wrap
from spacy_cnm.modeling.checkpoint import check_state
from spacy_cnm.modeling.model import CNMBertPreTrainedModel
from spacy_cnm.modeling.wrap import build_model

_VARIANT, _WEIGHTS, _TABLE = "variant.json", "structure.safetensors", "table.cnmids"


@dataclass(frozen=True, config=ConfigDict(extra="forbid", strict=True))
class Variant:
    """What `variant.json` holds; see the module."""

    base: str
    structure_input: str = "tree"
    untrained: bool = False
    operator_std: PositiveFloat | None = None


def load_encoder(
    source: str | os.PathLike[str], seed: int = 0
) -> tuple[CNMBertModel, PreTrainedTokenizerFast]:
    """Load an encoder, or the folder of a variant.

    seed: of weights that are new.
    RETURNS: the model in evaluation mode and its tokenizer.
    RAISES CNMError: it is neither or is damaged.
    """
    folder = Path(source)
    if not folder.is_dir():
        raise CNMError(Errors.E606.format(path=folder))
    if not Path(folder, _VARIANT).exists():
        torch.manual_seed(seed)
        model, tokenizer = load_or_wrap(str(source))
        return model, tokenizer
    variant = _read(folder)
    table = StructureTable.load(path) if (path := folder / _TABLE).exists() else None
    base = folder / variant.base
    model, tokenizer = with_structure(CNMBertModel, base, variant, table=table, seed=seed)
    if not variant.untrained:
        try:
            state = load_file(folder / _WEIGHTS)
        except (OSError, SafetensorError) as error:
            raise CNMError(Errors.E608.format(path=folder / _WEIGHTS, what=error)) from error
        side = _side(model)
        state |= {name: value for name, value in model.state_dict().items() if name not in side}
        check_state(model, state, folder)
        model.load_state_dict(state)
    return model, tokenizer


def with_structure(
    cls: type[CNMBertPreTrainedModel],
    base: str | os.PathLike[str],
    variant: Variant,
    *,
    table: StructureTable | None = None,
    seed: int = 0,
) -> tuple[CNMBertModel, PreTrainedTokenizerFast]:
    """Make an encoder with another structure side, which is new.

    cls: class of the model.
    base: a CNM-BERT; what is not of its structure encoder is kept, unless `variant.untrained`.
    table: default the shipped one.
    RETURNS: a `cls` in evaluation mode and its tokenizer.
    """
    given, tokenizer = load_or_wrap(str(base), cls=cls)
    torch.manual_seed(seed)
    model, tokenizer = build_model(
        cls,
        given.config,
        tokenizer,
        table or StructureTable.default(),
        structure_input=variant.structure_input,
    )
    if variant.operator_std is not None:
        model.base_model.structure.init_operators(variant.operator_std)
    if not variant.untrained:
        kept = {k: v for k, v in given.state_dict().items() if not _belongs_to_table(k)}
        model.load_state_dict(kept, strict=False)
    return model, tokenizer


def save_variant(
    folder: Path, model: CNMBertForPreTraining, variant: Variant, table: Path | None = None
) -> None:
    """Write the folder of a variant, weights in 16 bits.

    table: the file of its structure table, where it is not the shipped one.
    """
    side = {name: value.detach().half().contiguous() for name, value in _side(model.bert).items()}
    with atomic_folder(folder) as place:
        srsly.write_json(place / _VARIANT, asdict(variant))
        save_file(side, place / _WEIGHTS)
        if table is not None:
            (place / _TABLE).write_bytes(table.read_bytes())


def weights_checksum(source: str | os.PathLike[str]) -> str:
    """Identify an encoder, or a variant with its base, by what is in its files.

    RAISES CNMError: the folder has no encoder.
    """
    folder = Path(source)
    kinds = ("*.safetensors", "config.json", "tokenizer.json", _VARIANT, _TABLE)
    paths = sorted(path for kind in kinds for path in folder.glob(kind))
    if not paths:
        raise CNMError(Errors.E606.format(path=folder))
    found = hashlib.sha256()
    for path in paths:
        found.update(hashlib.sha256(path.read_bytes()).digest())
    if Path(folder, _VARIANT).exists():
        found.update(weights_checksum(folder / _read(folder).base).encode())
    return found.hexdigest()[:16]


def _read(folder: Path) -> Variant:
    path = folder / _VARIANT
    try:
        variant = Variant(**srsly.read_json(path))
    except ValidationError as error:
        raise CNMError(Errors.E608.format(path=path, what=first_fault(error))) from error
    except (OSError, ValueError, TypeError) as error:
        raise CNMError(Errors.E608.format(path=path, what=error)) from error
    if not Path(folder, variant.base).is_dir():
        raise CNMError(Errors.E608.format(path=path, what=f"no folder {variant.base!r} is there"))
    return variant


def first_fault(error: ValidationError) -> str:
    """What is wrong first, in one line."""
    fault = error.errors()[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"


def _side(model: CNMBertModel) -> dict[str, torch.Tensor]:
    """The weights of structure encoder and fusion, without the table."""
    return {
        name: value
        for name, value in model.named_parameters()
        if name.startswith(("structure.", "fusion."))
    }


def _belongs_to_table(key: str) -> bool:
    """Whether a state-dict key is of the structure encoder or of the indices into its table."""
    key = key.removeprefix("bert.")
    return key.startswith(("structure.", "token_index", "struct_index"))
