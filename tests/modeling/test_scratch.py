"""New encoders from texts, and what they weigh."""

import pytest
import torch
from transformers import BertConfig, BertModel

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertModel, wrap_bert
from spacy_cnm.modeling.scratch import (
    base_vocabulary,
    count_characters,
    new_encoder,
    read_texts,
    sinusoids,
)
from spacy_cnm.modeling.summary import parameter_counts, summarize

TEXTS = ["今天天气很好", "今天天气不好 ABC", "鑫"]


def test_vocabulary_is_by_frequency_and_leaves_rare_characters_out():
    vocab = base_vocabulary(count_characters(TEXTS), min_count=2)
    assert vocab == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "天", "今", "好", "气"]
    everything = base_vocabulary(count_characters(TEXTS), min_count=1)
    assert {"鑫", "a", "##a"} <= set(everything)
    assert "##今" not in everything


def test_new_encoder_is_reproducible_and_works(table):
    first, tokenizer = new_encoder(TEXTS, n_layers=1, width=64, min_count=1, table=table)
    second, _ = new_encoder(TEXTS, n_layers=1, width=64, min_count=1, table=table)
    state, again = first.state_dict(), second.state_dict()
    assert all(torch.equal(state[key], again[key]) for key in state)
    batch = tokenizer("今天鑫䢖", return_tensors="pt")
    with torch.no_grad():
        hidden = first(**batch).last_hidden_state
    assert hidden.shape == (1, 6, 64)
    assert hidden.isfinite().all()


def test_no_text_is_an_error():
    with pytest.raises(CNMError, match="min-count"):
        new_encoder([], min_count=1)


def test_unreadable_texts_are_named(tmp_path):
    (tmp_path / "gbk.txt").write_bytes("今天".encode("gbk"))
    for name in ("gbk.txt", "missing.txt"):
        with pytest.raises(CNMError, match=name):
            list(read_texts([tmp_path / name]))


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
