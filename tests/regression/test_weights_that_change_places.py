"""The structure cache missed weights that changed places behind autograd's back."""

import pytest
import torch

from spacy_cnm.modeling import CNMBertModel


@pytest.mark.parametrize(
    "swap",
    [
        lambda w: w[torch.randperm(len(w))],
        lambda w: w.flip(0),
        lambda w: w.flip(1),
        lambda w: torch.cat([w[:1].roll(2, dims=1), w[1:]]),
    ],
    ids=["permuted", "rows", "columns", "one row"],
)
@pytest.mark.parametrize("part", ["component_embeddings", "binary"])
def test_vectors_are_fresh(cnm_folder, table, swap, part):
    encoder = CNMBertModel.from_pretrained(cnm_folder).structure
    rows = torch.arange(2, 400)
    weight = getattr(encoder, part).weight
    with torch.no_grad():
        before = encoder(rows)
        weight.data.copy_(swap(weight.data))
        after = encoder(rows)
        assert after.equal(encoder.encode(rows))
    if part == "binary":
        assert not after.equal(before)
