"""New encoders from texts, and what they weigh."""

import pytest
import torch
from transformers import BertConfig, BertModel

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertModel, wrap_bert
from spacy_cnm.modeling.scratch import new_encoder, sinusoids
from spacy_cnm.modeling.summary import parameter_counts, summarize

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"今天气很好鑫"]


def test_new_encoder_is_reproducible_and_works(table):
    first, tokenizer = new_encoder(VOCABULARY, n_layers=1, width=64, table=table)
    second, _ = new_encoder(VOCABULARY, n_layers=1, width=64, table=table)
    other, _ = new_encoder(VOCABULARY, n_layers=1, width=64, table=table, seed=1)
    state, again = first.state_dict(), second.state_dict()
    assert all(torch.equal(state[key], again[key]) for key in state)
    key = "embeddings.word_embeddings.weight"
    assert not torch.equal(state[key], other.state_dict()[key])
    batch = tokenizer("今天鑫䢖", return_tensors="pt")
    assert batch["input_ids"][0, :4].tolist() == [2, 5, 6, 10]
    with torch.no_grad():
        hidden = first(**batch).last_hidden_state
    assert hidden.shape == (1, 6, 64)
    assert hidden.isfinite().all()


def test_settings_reach_the_configuration(table):
    model, tokenizer = new_encoder(
        VOCABULARY,
        n_layers=1,
        width=64,
        max_length=16,
        table=table,
        structure_size=8,
        structure_scale=0.5,
        learn_structure_scale=True,
        fusion_layer_norm=False,
    )
    config = model.config
    assert (config.structure_size, config.structure_scale) == (8, 0.5)
    assert config.learn_structure_scale
    assert not config.fusion_layer_norm
    assert config.max_position_embeddings == tokenizer.model_max_length == 16
    with pytest.raises(CNMError, match="structure_scale"):
        new_encoder(VOCABULARY, n_layers=1, width=64, table=table, structure_scale=0.0)


def test_operators_may_begin_larger(table):
    small, large = (
        new_encoder(VOCABULARY, n_layers=1, width=64, table=table, operator_std=std)[0]
        for std in (None, 1.0)
    )
    before, after = small.state_dict(), large.state_dict()
    name = "structure.operator_embeddings.weight"
    assert {key for key in before if not torch.equal(before[key], after[key])} == {name}
    assert after[name].std() == pytest.approx(1.0, rel=0.2)


def test_parameter_counts_of_the_bert_base_shape(base_tokenizer, table):
    """Paper, appendix C; fusion is (d + d_s) x d + d."""
    base = BertModel(BertConfig(vocab_size=len(base_tokenizer), num_hidden_layers=1))
    model, _ = wrap_bert(
        CNMBertModel,
        base,
        tokenizer=base_tokenizer,
        table=table,
    )
    counts = parameter_counts(model)
    assert counts["component embeddings"] == 4842 * 256 == 1_239_552
    assert counts["operator embeddings"] == 16 * 256 == 4_096
    assert counts["null and unknown"] == 2 * 256
    assert counts["binary nodes"] == 3 * 256 * 256 + 256 == 196_864
    assert counts["ternary nodes"] == 4 * 256 * 256 + 256 == 262_400
    assert counts["fusion"] == 1024 * 768 + 768 == 787_200
    assert counts["leaf LayerNorm"] == counts["node LayerNorm"] == 2 * 256
    assert counts["fusion LayerNorm"] == 0
    assert counts["structure side in all"] == 2_491_648
    assert counts["backbone"] == base.num_parameters()
    assert "2,491,648" in summarize(model)
    with_norm, _ = wrap_bert(
        CNMBertModel, base, tokenizer=base_tokenizer, table=table, fusion_layer_norm=True
    )
    assert parameter_counts(with_norm)["fusion LayerNorm"] == 2 * 768


def test_positions_start_as_sines_and_cosines():
    positions = sinusoids(4, 6)
    assert positions.shape == (4, 6)
    assert torch.equal(positions[0], torch.tensor([0.0, 1.0] * 3))
    assert torch.allclose(positions[2, :2], torch.tensor([0.90930, -0.41615]), atol=1e-4)
    # Neighbours are alike, and the likeness depends on the distance alone.
    products = sinusoids(64, 64) @ sinusoids(64, 64).T
    assert torch.allclose(products.diagonal(3), products.diagonal(3)[:1].expand(61), atol=1e-3)
    assert (products.diagonal(1) > products.diagonal(5)[0]).all()
