"""The one module that touches names of spacy-transformers which are not its public interface."""

from importlib.metadata import PackageNotFoundError, version

from spacy_cnm.errors import CNMError, Errors

_PACKAGES = ("spacy", "spacy-transformers", "transformers", "tokenizers", "thinc", "torch")


def _installed(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


try:
    from spacy_transformers.align import get_alignment_via_offset_mapping
    from spacy_transformers.data_classes import (
        FullTransformerBatch,
        HFObjects,
        TransformerData,
        WordpieceBatch,
    )
    from spacy_transformers.layers import split_trf_batch, trfs2arrays
    from spacy_transformers.layers.hf_shim import HFShim
    from spacy_transformers.layers.transformer_model import (
        TransformerModel,
        _convert_transformer_inputs,
        _convert_transformer_outputs,
        set_pytorch_transformer,
    )
    from spacy_transformers.util import maybe_flush_pytorch_cache, registry
    from thinc.layers.pytorchwrapper import forward as pytorch_forward
except (ImportError, AttributeError) as error:
    raise CNMError(
        Errors.E201.format(installed=", ".join(map(_installed, _PACKAGES)), reason=error)
    ) from error

convert_inputs = _convert_transformer_inputs
convert_outputs = _convert_transformer_outputs

__all__ = [
    "FullTransformerBatch",
    "HFObjects",
    "HFShim",
    "TransformerData",
    "TransformerModel",
    "WordpieceBatch",
    "convert_inputs",
    "convert_outputs",
    "get_alignment_via_offset_mapping",
    "maybe_flush_pytorch_cache",
    "pytorch_forward",
    "registry",
    "set_pytorch_transformer",
    "split_trf_batch",
    "trfs2arrays",
]
