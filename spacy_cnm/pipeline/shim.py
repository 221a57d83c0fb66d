"""How an encoder is stored inside a spaCy pipeline: safetensors, strict, versioned."""

import tempfile
from pathlib import Path
from typing import Any

import srsly
from safetensors import SafetensorError
from safetensors.torch import load, save
from spacy.util import SimpleFrozenDict
from thinc.api import get_torch_default_device
from transformers import PreTrainedTokenizerFast
from transformers.modeling_utils import no_init_weights

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.modeling.checkpoint import check_state, check_tables
from spacy_cnm.modeling.config import CNMBertConfig
from spacy_cnm.modeling.model import CNMBertModel

from .stt import HFObjects, HFShim

#: Version of the stored message. Messages without one come from spacy-transformers' own shim.
FORMAT = 1
_SOURCE = "the saved pipeline"


class CNMShim(HFShim):
    """spacy-transformers' shim with its own storage.

    The stock shim pickles the weights and, on a mismatch, warns and loads what fits. This one
    stores safetensors and refuses whatever does not fit, by name of the key.
    """

    def to_bytes(self) -> bytes:
        """Serialise configuration, weights and tokenizer."""
        stored: dict[str, Any] = {"config": {}, "state": b"", "tokenizer": {}}
        settings: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        if self._hfmodel.transformer is None:
            settings = (
                dict(self._hfmodel._init_tokenizer_config),
                dict(self._hfmodel._init_transformer_config),
            )
        else:
            config = self._model.config.to_dict()
            config.pop("_name_or_path", None)
            tensors = {key: t.contiguous() for key, t in self._model.state_dict().items()}
            stored = {
                "config": config,
                "state": save(tensors),
                "tokenizer": _tokenizer_files(self._hfmodel.tokenizer),
            }
        message = {
            "format": FORMAT,
            **stored,
            "_init_tokenizer_config": settings[0],
            "_init_transformer_config": settings[1],
        }
        return srsly.msgpack_dumps(message)

    def from_bytes(self, bytes_data: bytes) -> "CNMShim":
        """Restore what `to_bytes` gave.

        RAISES CNMError: another format, pickled weights, or weights that do not fit.
        """
        message = srsly.msgpack_loads(bytes_data)
        if message.get("format", FORMAT) > FORMAT:
            raise CNMError(Errors.E205.format(found=message["format"], known=FORMAT))
        if not message["config"]:
            self._hfmodel = HFObjects(
                None,
                None,
                None,
                message["_init_tokenizer_config"],
                message["_init_transformer_config"],
            )
            return self
        model = _load_model(message["config"], message["state"])
        model.to(get_torch_default_device())
        tokenizer = _load_tokenizer(message["tokenizer"])
        empty = SimpleFrozenDict()
        self._hfmodel = HFObjects(tokenizer, model, None, empty, empty)
        self._model = model
        return self


def _load_model(config_dict: dict[str, Any], weights: bytes) -> CNMBertModel:
    if config_dict.get("model_type") != CNMBertConfig.model_type:
        raise CNMError(Errors.E206.format(kind=config_dict.get("model_type")))
    config = CNMBertConfig.from_dict(config_dict)
    with no_init_weights():
        model = CNMBertModel(config)
    try:
        state = load(weights)
    except SafetensorError as error:
        raise CNMError(Errors.E207.format(reason=error)) from error
    check_state(model, state, _SOURCE)
    model.load_state_dict(state)
    check_tables(model, _SOURCE)
    return model.eval()


def _tokenizer_files(tokenizer: PreTrainedTokenizerFast) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def _load_tokenizer(files: dict[str, Any]) -> PreTrainedTokenizerFast:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            if isinstance(content, bytes):  # the stock shim adds its keyword arguments
                Path(folder, Path(name).name).write_bytes(content)
        return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
