"""Fusion of token and structure at the embedding interface (paper, section 3.4)."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .config import CNMBertConfig


class Fusion(nn.Module):
    """z = LN(W_f [e_tok; scale * s] + b_f), equation 5; without the LN where the config says so.

    `norm` is the identity when `fusion_layer_norm` is False: a LayerNorm here rescales BERT's
    small token embeddings about twenty-fold, so a wrapped checkpoint would not be itself any more.
    `scale` is a number, or a parameter where `learn_structure_scale` is set.
    """

    scale: float | nn.Parameter

    def __init__(self, config: CNMBertConfig) -> None:
        super().__init__()
        self.initial_scale = config.structure_scale
        self.scale = (
            nn.Parameter(torch.tensor(float(self.initial_scale)))
            if config.learn_structure_scale
            else self.initial_scale
        )
        self.linear = nn.Linear(config.hidden_size + config.structure_size, config.hidden_size)
        self.norm = (
            nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
            if config.fusion_layer_norm
            else nn.Identity()
        )

    def forward(self, tokens: Tensor, structure: Tensor | None) -> Tensor:
        """Fuse embeddings.

        tokens: (..., d) float, token embeddings.
        structure: (..., d_s) float, structure vectors; None for zeros, at no cost.
        RETURNS: (..., d) float, to which BERT adds positions and segments (equation 6).
        """
        weight, bias = self.linear.weight, self.linear.bias
        if structure is None:
            return self.norm(F.linear(tokens, weight[:, : tokens.shape[-1]], bias))
        return self.norm(
            F.linear(torch.cat([tokens, self.scale * structure], dim=-1), weight, bias)
        )

    @torch.no_grad()
    def init_weights(self, structure_std: float) -> None:
        """Let tokens through unchanged, and structure through random weights of a given spread.

        A scale that is learned starts again.

        structure_std: 0 makes the fusion the identity on tokens.
        """
        d = self.linear.out_features
        self.linear.weight[:, :d] = torch.eye(d)
        self.linear.weight[:, d:].normal_(0.0, structure_std)
        self.linear.bias.zero_()
        if isinstance(self.scale, nn.Parameter):
            self.scale.fill_(self.initial_scale)
