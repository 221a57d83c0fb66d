"""Negative input ids counted from the end of the extended vocabulary."""

import pytest
import torch

from spacy_cnm.modeling import CNMBertModel


@pytest.mark.parametrize("index", [-1, -100, 10**6])
def test_they_are_refused_as_by_bert(cnm_folder, index):
    model = CNMBertModel.from_pretrained(cnm_folder)
    ids = torch.tensor([[2, index, 3]])
    with pytest.raises(IndexError), torch.no_grad():
        model(ids)
    with pytest.raises(IndexError):
        model(ids)
