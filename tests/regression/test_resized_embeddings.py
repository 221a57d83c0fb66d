"""`resize_token_embeddings` cut a CNM-BERT's embeddings loose from its ids."""

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertForMaskedLM, CNMBertModel


def test_only_the_same_size_is_accepted(cnm_folder, bert_folder):
    for model in (
        CNMBertModel.from_pretrained(cnm_folder),
        CNMBertForMaskedLM.from_bert(bert_folder),
    ):
        size = model.config.vocab_size
        weight = model.get_input_embeddings().weight
        for same in (None, size):
            assert model.resize_token_embeddings(same).weight is weight
        for asked in ({"new_num_tokens": size + 1}, {"pad_to_multiple_of": 8}):
            with pytest.raises(CNMError, match="wrap it again"):
                model.resize_token_embeddings(**asked)
        assert model.get_input_embeddings().weight is weight
        assert model.config.vocab_size == size
