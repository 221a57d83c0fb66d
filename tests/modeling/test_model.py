"""Wrapping keeps the plain BERT's outputs; structure, labels and saved checkpoints."""

import pytest
import torch
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertModel,
)

from spacy_cnm.modeling import (
    CNMBertConfig,
    CNMBertForMaskedLM,
    CNMBertModel,
    extend_tokenizer,
    wrap_bert,
)

TEXTS = [
    "今天天气很好。",
    "我在北京见到了王小明，他说abc",
    "",
    "ｆｕｌｌ 中国!",
    "重道藏日木生金色塚",
]


def hidden(model, batch):
    with torch.no_grad():
        return model(**batch).last_hidden_state


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize(
    ("layers", "width", "heads"), [(1, 32, 2), (3, 64, 4), (4, 256, 4), (2, 768, 12)]
)
def test_wrapping_gives_the_same_hidden_states(
    base_tokenizer, table, attention, layers, width, heads
):
    torch.manual_seed(layers)
    config = BertConfig(
        vocab_size=len(base_tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=2 * width,
        attn_implementation=attention,
    )
    base = BertModel(config).eval()
    model, tokenizer = wrap_bert(CNMBertModel, base, tokenizer=base_tokenizer, table=table)
    assert model.config._attn_implementation == attention
    plain = base_tokenizer(TEXTS, padding=True, return_tensors="pt")
    extended = tokenizer(TEXTS, padding=True, return_tensors="pt")
    mask = plain["attention_mask"].bool()
    assert torch.equal(mask, extended["attention_mask"].bool())
    assert (hidden(base, plain) - hidden(model, extended))[mask].abs().max() < 1e-5


def test_wrapped_unknown_characters_start_as_bert_has_them(bert_folder, base_tokenizer):
    model = CNMBertModel.from_bert(bert_folder)
    base = BertModel.from_pretrained(bert_folder).eval()
    tokenizer = extend_tokenizer(base_tokenizer)
    text = "重䢖道藏鑫"
    with torch.no_grad():
        ours = model(**tokenizer(text, return_tensors="pt")).last_hidden_state
        theirs = base(**base_tokenizer(text, return_tensors="pt")).last_hidden_state
    assert (ours - theirs).abs().max() < 1e-5


def test_masked_lm_parity_and_labels(bert_folder, base_tokenizer):
    model = CNMBertForMaskedLM.from_bert(bert_folder)
    base = BertForMaskedLM.from_pretrained(bert_folder).eval()
    tokenizer = extend_tokenizer(base_tokenizer)
    batch = tokenizer(["今天天气鑫很好", "塚"], padding=True, return_tensors="pt")
    plain = base_tokenizer(["今天天气鑫很好", "塚"], padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(**batch).logits
        assert logits.shape[-1] == len(base_tokenizer)
        mask = plain["attention_mask"].bool()
        assert (logits - base(**plain).logits)[mask].abs().max() < 1e-5
        # 鑫 is outside the base vocabulary and carries no loss; it would be [UNK] for the base.
        labels = batch["input_ids"].masked_fill(~mask, -100)
        wanted = plain["input_ids"].masked_fill(~mask, -100)
        wanted[0, 5] = -100
        got, expected = model(**batch, labels=labels).loss, base(**plain, labels=wanted).loss
    assert torch.allclose(got, expected, atol=1e-5)


def test_embeddings_are_tied_and_stay_tied_on_disk(bert_folder, tmp_path):
    model = CNMBertForMaskedLM.from_bert(bert_folder)
    model.save_pretrained(tmp_path)
    again = CNMBertForMaskedLM.from_pretrained(tmp_path)
    weight = again.bert.embeddings.word_embeddings.weight
    assert again.cls.predictions.decoder.weight is weight


def test_paper_equation_5(bert_folder, base_tokenizer, table):
    model = CNMBertModel.from_bert(bert_folder, fusion_layer_norm=True, structure_scale=1.0).eval()
    model.fusion.init_weights(structure_std=0.3)
    tokenizer = extend_tokenizer(base_tokenizer)
    ids = tokenizer("辯杲a", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        got = model.fuse(ids)
        tokens = model.embeddings.word_embeddings.weight[model.token_index[ids].long()]
        rows = torch.tensor([[0, table["辯"], table["杲"], 0, 0]])
        structure = torch.stack([model.structure.encode(row[None])[0] for row in rows[0]])
        joined = torch.cat([tokens, structure[None]], -1)
        z = joined @ model.fusion.linear.weight.T + model.fusion.linear.bias
        expected = torch.nn.functional.layer_norm(
            z, z.shape[-1:], model.fusion.norm.weight, model.fusion.norm.bias, 1e-12
        )
    assert torch.allclose(got, expected, atol=1e-5)


def test_explicit_struct_idx(cnm_folder, table):
    model = CNMBertModel.from_pretrained(cnm_folder)
    tokenizer = AutoTokenizer.from_pretrained(cnm_folder)
    batch = tokenizer("今鑫天", return_tensors="pt")
    unknown = batch["input_ids"].clone()
    unknown[0, 2] = tokenizer.unk_token_id
    rows = torch.tensor([[0, table["今"], table["鑫"], table["天"], 0]])
    with torch.no_grad():
        own = model(**batch).last_hidden_state
        explicit = model(input_ids=unknown, struct_idx=rows).last_hidden_state
        other = model(input_ids=unknown).last_hidden_state
    assert torch.allclose(own, explicit, atol=1e-6)
    assert (own - other).abs().max() > 1e-3


def test_masking_a_token_masks_its_structure(cnm_folder):
    model = CNMBertModel.from_pretrained(cnm_folder)
    tokenizer = AutoTokenizer.from_pretrained(cnm_folder)
    assert int(model.struct_index[tokenizer.mask_token_id]) == 0


def test_two_unknown_characters_get_different_vectors(cnm_folder):
    model = CNMBertModel.from_pretrained(cnm_folder)
    tokenizer = AutoTokenizer.from_pretrained(cnm_folder)
    with torch.no_grad():
        one, other = model(**tokenizer(["重刋道藏", "重䢖道藏"], return_tensors="pt"))[0]
    assert (one[2] - other[2]).abs().max() > 1e-3


def test_auto_classes_load_what_was_saved(cnm_folder, bert_folder, tmp_path):
    assert isinstance(AutoConfig.from_pretrained(cnm_folder), CNMBertConfig)
    model = AutoModel.from_pretrained(cnm_folder)
    assert type(model) is CNMBertModel
    CNMBertForMaskedLM.from_bert(bert_folder).save_pretrained(tmp_path)
    assert type(AutoModelForMaskedLM.from_pretrained(tmp_path)) is CNMBertForMaskedLM


def test_saved_equals_loaded_bit_for_bit(cnm_folder, tmp_path):
    model = CNMBertModel.from_pretrained(cnm_folder)
    model.save_pretrained(tmp_path)
    again = CNMBertModel.from_pretrained(tmp_path)
    state, loaded = model.state_dict(), again.state_dict()
    assert state.keys() == loaded.keys()
    assert all(torch.equal(state[key], loaded[key]) for key in state)


def test_constructor_reads_nothing(cnm_folder, monkeypatch):
    config = CNMBertConfig.from_pretrained(cnm_folder)
    monkeypatch.setattr("builtins.open", lambda *a, **k: pytest.fail("opened a file"))
    CNMBertModel(config)


def test_same_seed_same_weights(bert_folder):
    models = []
    for _ in range(2):
        torch.manual_seed(7)
        models.append(CNMBertModel.from_bert(bert_folder).state_dict())
    keys = [key for key in models[0] if not key.startswith("pooler")]
    assert all(torch.equal(models[0][key], models[1][key]) for key in keys)


def test_structure_learns(cnm_folder):
    model = CNMBertModel.from_pretrained(cnm_folder).train()
    tokenizer = AutoTokenizer.from_pretrained(cnm_folder)
    model(**tokenizer("重䢖道藏𰻞鑫辯", return_tensors="pt")).last_hidden_state.pow(
        2
    ).sum().backward()
    names = [name for name, p in model.named_parameters() if p.grad is None]
    assert names == ["pooler.dense.weight", "pooler.dense.bias"]


@pytest.mark.parametrize("mode", ["tree", "flat", "none"])
@pytest.mark.parametrize("explicit", [False, True])
def test_token_dropout_leaves_structure_alone(cnm_folder, mode, explicit):
    model = CNMBertModel.from_pretrained(cnm_folder, structure_input=mode, token_dropout=0.3)
    tokenizer = AutoTokenizer.from_pretrained(cnm_folder)
    ids = tokenizer("天" * 200 + "鑫" * 20 + "。a", return_tensors="pt")["input_ids"]
    rows = {"struct_idx": model.structure_rows(ids)} if explicit else {}
    with torch.no_grad():
        whole = model.fuse(ids)
        assert torch.equal(model.fuse(ids, **rows), whole), "evaluation drops nothing"
        model.train()
        torch.manual_seed(0)
        got = model.fuse(ids, **rows)
        unknown = model.embeddings.word_embeddings.weight[model.config.unk_token_id]
        structure = model._structure(model.structure_rows(ids))
        without = model.fusion(unknown.expand_as(whole), structure)
    characters = slice(1, 201)
    same = torch.isclose(got, whole, atol=1e-6).all(-1)[0]
    assert not same[characters].all()
    assert 0.2 < 1 - same[characters].float().mean() < 0.4
    assert torch.allclose(got[0][~same], without[0][~same], atol=1e-6)
    others = torch.cat([same[:1], same[201:]])
    assert others.all(), "neither special tokens, nor punctuation, nor what has no token anyway"


def test_token_dropout_draws_the_same_with_and_without_structure(cnm_folder):
    dropped = []
    for mode in ("tree", "none"):
        model = CNMBertModel.from_pretrained(cnm_folder, structure_input=mode)
        ids = AutoTokenizer.from_pretrained(cnm_folder)("天气" * 50, return_tensors="pt")
        with torch.no_grad():
            whole = model.fuse(ids["input_ids"])
            model.config.token_dropout = 0.3
            torch.manual_seed(1)
            got = model.train().fuse(ids["input_ids"])
        dropped.append(~torch.isclose(got, whole, atol=1e-6).all(-1))
    assert torch.equal(*dropped)


def test_a_frozen_structure_encoder_does_not_learn(cnm_folder):
    model = CNMBertModel.from_pretrained(cnm_folder, freeze_structure=True).train()
    ids = AutoTokenizer.from_pretrained(cnm_folder)("天鑫", return_tensors="pt")["input_ids"]
    model(ids).last_hidden_state.square().sum().backward()
    learning = {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None}
    assert "structure" not in learning
    assert {"fusion", "embeddings", "encoder"} <= learning
