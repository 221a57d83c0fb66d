"""Fusion of token and structure at the embedding interface (paper, section 3.4)."""

import torch
from torch import Tensor, nn

from .config import CNMBertConfig


class Fusion(nn.Module):
    """z = LN(W_f [e_tok; scale * s] + b_f), equation 5; without the LN where the config says so.

    `norm` is the identity when `fusion_layer_norm` is False: a LayerNorm here rescales BERT's
    small token embeddings about twenty-fold, so a wrapped checkpoint would not be itself any more.
    """

    def __init__(self, config: CNMBertConfig) -> None:
        super().__init__()
        self.scale = config.structure_scale
        self.linear = nn.Linear(config.hidden_size + config.structure_size, config.hidden_size)
        self.norm = (
            nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
            if config.fusion_layer_norm
            else nn.Identity()
        )

    def forward(self, tokens: Tensor, structure: Tensor) -> Tensor:
        """Fuse embeddings.

        tokens: (B, T, d) float, token embeddings.
        structure: (B, T, d_s) float, structure vectors.
        RETURNS: (B, T, d) float, to which BERT adds positions and segments (equation 6).
        """
        return self.norm(self.linear(torch.cat([tokens, self.scale * structure], dim=-1)))

    @torch.no_grad()
    def init_weights(self, structure_std: float) -> None:
        """Let tokens through unchanged, and structure through random weights of a given spread.

        structure_std: 0 makes the fusion the identity on tokens.
        """
        d = self.linear.out_features
        self.linear.weight[:, :d] = torch.eye(d)
        self.linear.weight[:, d:].normal_(0.0, structure_std)
        self.linear.bias.zero_()
