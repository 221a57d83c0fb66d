"""How many parameters the structure side adds, and where."""

from torch import nn
from transformers import PreTrainedModel


def parameter_counts(model: PreTrainedModel) -> dict[str, int]:
    """Parameters of a CNM-BERT by part; "backbone" is all that the plain BERT has.

    model: a `CNMBertModel` or a model with one at `.bert`. The component head of a
        `CNMBertForPreTraining` belongs to the structure side.
    RETURNS: number of parameters by name, structure side first.
    """
    encoder = getattr(model, "bert", model)
    structure = encoder.structure
    parts: dict[str, nn.Module] = {
        "component embeddings": structure.component_embeddings,
        "operator embeddings": structure.operator_embeddings,
        "null and unknown": structure.special_embeddings,
        "binary nodes": structure.binary,
        "ternary nodes": structure.ternary,
        "leaf LayerNorm": structure.leaf_norm,
        "node LayerNorm": structure.node_norm,
        "fusion": encoder.fusion.linear,
        "fusion LayerNorm": encoder.fusion.norm,
    }
    if hasattr(model, "component_head"):
        parts["component head"] = model.component_head
    counts = {name: sum(p.numel() for p in part.parameters()) for name, part in parts.items()}
    if isinstance(encoder.fusion.scale, nn.Parameter):
        counts["structure scale"] = 1
    counts["structure side in all"] = sum(counts.values())
    counts["backbone"] = model.num_parameters() - counts["structure side in all"]
    return counts


def summarize(model: PreTrainedModel) -> str:
    """A table of the model's sizes for people."""
    config = model.config
    lines = [f"{name:<24}{count:>14,}" for name, count in parameter_counts(model).items()]
    return "\n".join(
        [
            f"{type(model).__name__}: {config.num_hidden_layers} layers x {config.hidden_size}, "
            f"{config.vocab_size:,} base + "
            f"{config.extended_vocab_size - config.vocab_size:,} added input ids, "
            f"{config.structure_rows - 2:,} trees",
            *lines,
        ]
    )
