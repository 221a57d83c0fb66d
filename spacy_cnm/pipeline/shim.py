"""How an encoder is stored inside a spaCy pipeline: safetensors, strict, versioned."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import srsly
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from spacy.util import SimpleFrozenDict
from thinc.api import get_torch_default_device, xp2torch
from thinc.types import ArgsKwargs
from transformers import PreTrainedTokenizerFast
from transformers.modeling_outputs import ModelOutput
from transformers.modeling_utils import no_init_weights

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.modeling.checkpoint import check_state, short_reason
from spacy_cnm.modeling.config import CNMBertConfig
from spacy_cnm.modeling.consistency import check_model, check_tokenizer
from spacy_cnm.modeling.hardware import cpu_has_bfloat16
from spacy_cnm.modeling.model import CNMBertModel
from spacy_cnm.modeling.tokenizer import cap_length

from .stt import HFObjects, HFShim

#: Version of the stored message. Messages without one come from spacy-transformers' own shim.
FORMAT = 1
_PARTS = ("config", "state", "tokenizer")
_SETTINGS = ("_init_tokenizer_config", "_init_transformer_config")
_SOURCE = "the saved pipeline"


class CNMShim(HFShim):
    """spacy-transformers' shim with its own storage.

    The stock shim pickles the weights and, on a mismatch, warns and loads what fits. This one
    stores safetensors and refuses whatever does not fit, by name of the key. Mixed precision also
    works on the CPU, and averaged weights reach the encoder.
    """

    def __init__(
        self, model: HFObjects, *, mixed_precision: bool, grad_scaler_config: dict[str, Any]
    ) -> None:
        on_gpu = get_torch_default_device().type == "cuda"
        # The stock shim knows mixed precision and gradient scaling on CUDA alone. The CPU's
        # bfloat16 has the range of float32, so that its gradients need no scaling; a CPU without it
        # is faster in float32.
        self._bfloat16 = mixed_precision and not on_gpu and cpu_has_bfloat16()
        scaling = on_gpu and grad_scaler_config.get("enabled", mixed_precision)
        super().__init__(
            model,
            mixed_precision=mixed_precision and on_gpu,
            grad_scaler_config={**grad_scaler_config, "enabled": scaling},
        )

    def predict(self, inputs: ArgsKwargs) -> ModelOutput:
        """Run the encoder in evaluation mode, without gradients.

        It stays in that mode, unlike with the stock shim, whose change back would reach into the
        predictions of other threads.
        """
        self._model.eval()
        on_cpu = torch.autocast("cpu", enabled=self._bfloat16)
        on_gpu = torch.autocast("cuda", enabled=self._mixed_precision)
        with torch.no_grad(), on_cpu, on_gpu:
            output = self._model(*inputs.args, **inputs.kwargs)
        return _in_single_precision(output) if self._bfloat16 else output

    def begin_update(
        self, inputs: ArgsKwargs
    ) -> tuple[ModelOutput, Callable[[ArgsKwargs], ArgsKwargs]]:
        """Run the encoder in training mode; the callback takes gradients of the output."""
        with torch.autocast("cpu", enabled=self._bfloat16):
            output, backprop = super().begin_update(inputs)
        return _in_single_precision(output) if self._bfloat16 else output, backprop

    @contextmanager
    def use_params(self, params: dict[Any, Any]) -> Iterator[None]:
        """Compute with other weights inside of the context.

        params: weights by (shim id, name of the weight), such as an optimizer's averages. thinc's
            own shim looks for another kind of key, and so never finds them.
        """
        backup = {}
        for name, weight in self._model.named_parameters() if self._model else ():
            if (self.id, name) in params:
                backup[weight] = weight.data
                weight.data = xp2torch(params[self.id, name], device=weight.device).clone()
        try:
            yield
        finally:
            for weight, data in backup.items():
                weight.data = data

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
            # A folder that may be gone; and a mark that makes older transformers choose another
            # implementation of attention for the loaded model than for the saved one.
            for key in ("_name_or_path", "_attn_implementation_autoset"):
                config.pop(key, None)
            tensors = {key: t.contiguous() for key, t in self._model.state_dict().items()}
            stored = {
                "config": config,
                "state": save(tensors),
                "tokenizer": _tokenizer_files(self._hfmodel.tokenizer),
            }
        message = {
            "format": FORMAT,
            **stored,
            **dict(zip(_SETTINGS, settings, strict=True)),
        }
        return srsly.msgpack_dumps(message)

    def from_bytes(self, bytes_data: bytes) -> "CNMShim":
        """Restore what `to_bytes` gave.

        RAISES CNMError: another format, a missing part, pickled weights, weights that do not fit,
            or a tokenizer that is not the model's.
        """
        try:
            self._hfmodel = _from_message(srsly.msgpack_loads(bytes_data))
        except CNMError:
            raise
        except Exception as error:  # whatever damaged parts make of the libraries
            raise CNMError(Errors.E208.format(reason=short_reason(error))) from error
        self._model = self._hfmodel.transformer
        return self


def _from_message(message: dict[str, Any]) -> HFObjects:
    if message.get("format", FORMAT) > FORMAT:
        raise CNMError(Errors.E205.format(found=message["format"], known=FORMAT))
    missing = [key for key in _PARTS if key not in message]
    if missing:
        raise CNMError(Errors.E208.format(reason=f"no {', '.join(missing)}"))
    model = tokenizer = None
    if message["config"]:
        model = _load_model(message["config"], message["state"])
        tokenizer = _load_tokenizer(message["tokenizer"])
        cap_length(tokenizer, model.config.max_position_embeddings)
        check_tokenizer(model, tokenizer, _SOURCE)
        model.to(get_torch_default_device())
    settings = (message.get(key, {}) for key in _SETTINGS)
    return HFObjects(tokenizer, model, None, *map(SimpleFrozenDict, settings))


def _in_single_precision(output: ModelOutput) -> ModelOutput:
    """The same output in float32, since NumPy has no bfloat16."""
    for key, value in output.items():
        one = isinstance(value, torch.Tensor)
        output[key] = value.float() if one else tuple(tensor.float() for tensor in value)
    return output


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
    check_model(model, _SOURCE)
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
