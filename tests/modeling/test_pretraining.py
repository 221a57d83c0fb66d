"""The pretraining model: its two losses, what reaches what, its three inputs, its files."""

import itertools
import logging
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional as F
from transformers import AutoModelForPreTraining, BertConfig, BertForMaskedLM

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import FIRST_ROW, OPERATORS, Node, leaves
from spacy_cnm.modeling import (
    CNMBertConfig,
    CNMBertForMaskedLM,
    CNMBertForPreTraining,
    CNMBertModel,
    load_or_wrap,
)
from spacy_cnm.modeling.row_counts import padded_count
from spacy_cnm.modeling.summary import parameter_counts
from spacy_cnm.modeling.wrap import build_model

MODES = ["tree", "flat", "none"]
#: At every second place characters of the small vocabulary, 鑫, 龘 and 辯, which it lacks, and one
#: that is newer than the table.
TEXTS = ["今天很天气鑫好木a鑫", "重道藏日木\U000323b0生金色辯", "我在北京見龘到a"]
UNKNOWN = "\U000323b0"


@pytest.fixture(scope="module")
def template(base_tokenizer, table):
    """A small model, whose sizes and tables the others take, and its tokenizer."""
    config = BertConfig(
        vocab_size=len(base_tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    return build_model(CNMBertForPreTraining, config, base_tokenizer, table, structure_size=16)


@pytest.fixture
def make(template):
    """A function that makes a model with an input mode and further settings."""

    def make_model(mode="tree", **settings):
        original = template[0]
        shape = original.config.to_dict() | {"structure_input": mode} | settings
        torch.manual_seed(3)
        model = CNMBertForPreTraining(CNMBertConfig(**shape)).eval()
        model.load_state_dict(dict(original.named_buffers()), strict=False)
        return model

    return make_model


@pytest.fixture
def model(make):
    return make()


@pytest.fixture(scope="module")
def tokenizer(template):
    return template[1]


@pytest.fixture
def batch(tokenizer):
    """Every second piece is masked."""
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    ids, mask = encoded["input_ids"], encoded["attention_mask"]
    chosen = mask.bool() & (torch.arange(ids.shape[1]) % 2 == 0)
    chosen &= (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)
    return {
        "input_ids": ids.masked_fill(chosen, tokenizer.mask_token_id),
        "attention_mask": mask,
        "labels": ids.masked_fill(~chosen, -100),
    }


def gold_characters(tokenizer, batch, table):
    """The labelled characters that have a tree."""
    golds = tokenizer.convert_ids_to_tokens(batch["labels"][batch["labels"] >= 0])
    return [gold for gold in golds if gold in table and table[gold] >= FIRST_ROW]


def gradients(model, loss):
    loss.backward()
    result = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    return result


def reached(grads):
    return {name for name, grad in grads.items() if grad is not None and bool(grad.any())}


@pytest.mark.parametrize("mode", MODES)
def test_masked_lm_loss_equals_that_of_the_masked_lm_model(make, batch, mode):
    model = make(mode)
    whole = CNMBertForMaskedLM(model.config).eval()
    whole.load_state_dict(model.state_dict(), strict=False)
    out, expected = model(**batch), whole(**batch)
    assert torch.allclose(out.mlm_loss_sum / out.n_mlm, expected.loss, atol=1e-5)
    base = model.bert.base_labels(batch["labels"])
    assert torch.equal(out.mlm_labels, base[base != -100])
    assert torch.allclose(out.mlm_logits, expected.logits[base != -100], atol=1e-5)
    del batch["labels"]
    assert torch.allclose(model(**batch).mlm_logits, expected.logits, atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_structure_of_other_characters_than_the_tokens(make, batch, tokenizer, mode):
    """[UNK] with the structure of a character is what a character outside the vocabulary is."""
    model = make(mode)
    ids = batch["input_ids"].clone()
    cued = batch["labels"] == -100
    cued &= ~torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    batch["input_ids"] = ids.masked_fill(cued, tokenizer.unk_token_id)
    rows = model.bert.structure_rows(ids)
    fused = model.bert.fuse(batch["input_ids"], struct_idx=rows)
    found, _ = model.bert.fuse_beside(batch["input_ids"], rows.new_empty(0), ids)
    assert torch.allclose(found, fused, atol=1e-6)
    plain = model(**batch).mlm_loss_sum
    assert torch.equal(model(**batch, structure_ids=batch["input_ids"]).mlm_loss_sum, plain)
    same = torch.equal(model(**batch, structure_ids=ids).mlm_loss_sum, plain)
    assert same == (mode == "none")


@pytest.mark.parametrize("mode", MODES)
def test_component_loss_is_equation_14(make, table, tokenizer, batch, mode):
    model = make(mode)
    characters = gold_characters(tokenizer, batch, table)
    assert len(set(characters)) < len(characters)
    total = torch.zeros(())
    for char in characters:
        vector = model.bert.structure.encode(torch.tensor([table[char]]))
        head, structure = model.component_head, model.bert.structure
        states = structure.leaf_norm(structure.component_embeddings.weight)
        logits = head.norm(vector + F.gelu(head.dense(vector))) @ F.normalize(states, dim=1).T
        log_p = logits.log_softmax(1)[0]
        found = [table.components.index(str(leaf)) for leaf in leaves(table.tree(char))]
        total -= log_p[found].mean()
    out = model(**batch)
    assert out.n_component == len(characters)
    assert torch.allclose(out.component_loss_sum, total, rtol=1e-5)
    mean = out.mlm_loss_sum / out.n_mlm + 0.1 * total / len(characters)
    assert torch.allclose(out.loss, mean, rtol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_operators_are_named_too(make, table, tokenizer, batch, mode):
    """As components are, with their embeddings for classes; a root without one is not asked."""
    characters = gold_characters(tokenizer, batch, table)
    plain, model = make(mode), make(mode, operator_loss_weight=0.5)
    total = torch.zeros(())
    for char in characters:
        if isinstance(tree := table.tree(char), Node):
            vector = model.bert.structure.encode(torch.tensor([table[char]]))
            head, embeddings = model.component_head, model.bert.structure.operator_embeddings
            logits = head.norm(vector + F.gelu(head.dense(vector)))
            logits = logits @ F.normalize(embeddings.weight[1:13], dim=1).T
            total -= logits.log_softmax(1)[0, OPERATORS.index(tree.operator)]
    assert total > 0
    found = model(**batch)
    rest = found.component_loss_sum - plain(**batch).component_loss_sum
    assert torch.allclose(rest, 0.5 * total, rtol=1e-4)
    names = reached(gradients(model, found.component_loss_sum))
    assert all(name.startswith(("bert.structure.", "component_head.")) for name in names)


def test_counts_without_a_forward_pass(make, batch, model):
    out = model(**batch)
    assert model.label_counts(batch["labels"]) == (out.n_mlm, out.n_component)
    # Of 14, five are outside of the vocabulary; the newest and "a" have no tree.
    assert (out.n_mlm, out.n_component) == (9, 12)
    silent = make(component_loss_weight=0.0)
    assert silent.label_counts(batch["labels"]) == (out.n_mlm, 0)
    alone = silent(**batch)
    assert (alone.n_component, float(alone.component_loss_sum)) == (0, 0.0)
    assert torch.equal(alone.loss, alone.mlm_loss_sum / alone.n_mlm)


def test_component_predictions(model, table):
    rows = torch.tensor([table["木"], table["辯"], table["木"]])
    with torch.no_grad():
        logits = model.component_predictions(rows)
    assert logits.shape == (3, len(table.components))
    assert torch.equal(logits[0], logits[2])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("training", [True, False])
def test_gold_structure_does_not_reach_the_encoder(make, tokenizer, batch, mode, training):
    model = make(mode)
    model.train(training)
    labels = batch["labels"]
    # Characters with other trees and without, at the same positions.
    in_vocabulary = tokenizer.convert_tokens_to_ids(["藏", "a"])
    others = labels.clone()
    others[labels >= 0] = torch.tensor(in_vocabulary * 20)[: int((labels >= 0).sum())]
    with torch.set_grad_enabled(training):
        one = model(**batch)
        two = model(**(batch | {"labels": others}))
    # The first labels have golds outside of the vocabulary, where there are no logits.
    both = model.bert.base_labels(labels)[labels >= 0] != -100
    assert torch.equal(one.mlm_logits, two.mlm_logits[both])
    assert not torch.equal(one.component_loss_sum, two.component_loss_sum)


def test_what_the_masked_lm_loss_reaches(model, tokenizer, batch, table):
    grads = gradients(model, model(**batch).mlm_loss_sum)
    assert not any(name.startswith("component_head") for name in reached(grads))
    seen = {c for c in tokenizer.convert_ids_to_tokens(batch["input_ids"].flatten()) if c in table}
    trees = [table.tree(char) for char in seen if table[char] >= FIRST_ROW]
    wanted = {table.components.index(str(leaf)) for tree in trees for leaf in leaves(tree)}
    rows = grads["bert.structure.component_embeddings.weight"].any(dim=1).nonzero().flatten()
    assert set(rows.tolist()) == wanted


@pytest.mark.parametrize("mode", MODES)
def test_what_the_component_loss_reaches(make, batch, mode):
    model = make(mode)
    names = reached(gradients(model, model(**batch).component_loss_sum))
    assert {name.rpartition(".")[0].split(".")[0] for name in names} == {"bert", "component_head"}
    assert all(name.startswith(("bert.structure.", "component_head.")) for name in names)
    inner = {"bert.structure.binary.weight", "bert.structure.operator_embeddings.weight"}
    assert inner <= names if mode != "flat" else not inner & names


@pytest.mark.parametrize("mode", MODES)
def test_fused_vectors_do_not_depend_on_company(make, tokenizer, mode):
    model = make(mode)
    ids = tokenizer("".join(TEXTS), return_tensors="pt")["input_ids"]
    results = []
    for training in (True, False):
        with torch.set_grad_enabled(training):
            together = model.train(training).bert.fuse(ids)
            alone = [model.bert.fuse(column) for column in ids.T[:, :, None]]
        results += [together, torch.cat(alone, dim=1), torch.cat([model.bert.fuse(ids[:, 3:9])])]
    assert all(torch.equal(results[0], other) for other in (results[1], results[3], results[4]))
    assert torch.equal(results[0][:, 3:9], results[2])
    assert torch.equal(results[0][:, 3:9], results[5])


def test_same_weights_whatever_the_input(make):
    states = [make(mode).state_dict() for mode in MODES]
    for key, tensor in states[0].items():
        assert all(torch.equal(tensor, state[key]) for state in states), key


def test_tokens_alone(make, batch, tokenizer):
    model = make("none")
    ids = batch["input_ids"]
    tokens = model.bert.embeddings.word_embeddings(model.bert.token_index[ids].long())
    zeros = torch.zeros(*ids.shape, 16)
    assert torch.allclose(model.bert.fuse(ids), model.bert.fusion(tokens, zeros), atol=1e-6)
    explicit = model.bert.fuse(ids, model.bert.struct_index[ids].long())
    assert torch.allclose(model.bert.fuse(ids), explicit, atol=1e-6)
    # Characters outside of the vocabulary are one and the same.
    unknown = tokenizer(["鑫", "龘"], return_tensors="pt")["input_ids"]
    one, other = model.bert.fuse(unknown)
    assert torch.equal(one, other)


def test_flat_structure_is_a_bag_of_components(make, table):
    flat = make("flat")
    tree = make("tree")
    structure = flat.bert.structure
    rows = torch.tensor([table[char] for char in "杲杳林辯木"])
    vectors = structure.train()(rows)
    assert torch.equal(vectors, structure.eval()(rows))
    assert torch.equal(vectors[0], vectors[1])
    assert not torch.allclose(*tree.bert.structure(rows)[:2], atol=1e-3)
    for char, vector in zip("杲杳林辯木", vectors, strict=True):
        found = [table.components.index(str(leaf)) for leaf in leaves(table.tree(char))]
        states = structure.leaf_norm(structure.component_embeddings.weight[found])
        assert torch.allclose(vector, structure.node_norm(states.mean(0)), atol=1e-5)
    assert torch.equal(structure(torch.tensor([0, 1])), structure.special_embeddings.weight)


def test_leaves_of_many_trees(model, table):
    characters = list(table.characters[::97])
    trees, components = model.bert.structure.leaves(torch.tensor([table[c] for c in characters]))
    for i, char in enumerate(characters):
        found = sorted(table.components[c] for c in components[trees == i])
        assert found == sorted(str(leaf) for leaf in leaves(table.tree(char)))


@pytest.mark.parametrize(
    ("mode", "weight", "learned"), list(itertools.product(MODES, [0.0, 0.1], [False, True]))
)
def test_what_is_not_frozen_learns(make, tokenizer, mode, weight, learned):
    model = make(mode, component_loss_weight=weight, learn_structure_scale=learned)
    model.freeze_unused()
    ids = tokenizer(["辯𰻞鑫" + UNKNOWN, "金藏辯𰻞"], return_tensors="pt")["input_ids"]
    grads = gradients(model.train(), model(ids, labels=ids).loss)
    for name, parameter in model.named_parameters():
        assert (grads[name] is not None) == parameter.requires_grad, name


def test_nothing_labelled(model, batch):
    out = model(**(batch | {"labels": torch.full_like(batch["labels"], -100)}))
    assert (out.n_mlm, out.n_component, out.loss.detach().item()) == (0, 0, 0.0)
    assert len(out.mlm_logits) == 0
    out.loss.backward()


@pytest.mark.parametrize("mode", MODES)
def test_trains_in_bf16_and_twice_the_same(make, batch, mode):
    runs = []
    for _ in range(2):
        model = make(mode)
        model.freeze_unused()
        optimizer = torch.optim.AdamW(
            [p for p in model.parameters() if p.requires_grad], lr=3e-3, fused=True
        )
        losses = []
        for _ in range(8):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model.train()(**batch)
            assert out.mlm_loss_sum.dtype == out.component_loss_sum.dtype == torch.float32
            out.loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(out.loss.item())
        runs.append(losses)
    assert runs[0] == runs[1]
    assert runs[0][-1] < runs[0][0]


def test_the_scale_can_be_learned(make, batch, tmp_path):
    model = make(learn_structure_scale=True, structure_scale=0.25)
    assert model.bert.fusion.scale.item() == 0.25
    fixed = make(structure_scale=0.25)
    assert torch.equal(model(**batch).loss, fixed(**batch).loss)
    model(**batch).loss.backward()
    assert model.bert.fusion.scale.grad.abs() > 0
    assert parameter_counts(model)["structure scale"] == 1
    with torch.no_grad():
        model.bert.fusion.scale.fill_(0.5)
    model.save_pretrained(tmp_path)
    again = CNMBertForPreTraining.from_pretrained(tmp_path)
    assert again.bert.fusion.scale.item() == 0.5
    with pytest.raises(CNMError, match=r"fusion\.scale"):
        CNMBertForPreTraining.from_pretrained(tmp_path, learn_structure_scale=False)


def test_a_checkpoint_with_a_fixed_scale_starts_with_it(cnm_folder):
    settings = {"learn_structure_scale": True}
    model, _ = load_or_wrap(cnm_folder, cls=CNMBertForPreTraining, model_config=settings)
    assert model.bert.fusion.scale.item() == pytest.approx(model.config.structure_scale)


def test_saved_file_has_each_weight_once(model, tmp_path):
    model.save_pretrained(tmp_path)
    stored = load_file(tmp_path / "model.safetensors")
    tied = {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}
    assert stored.keys() == model.state_dict().keys() - tied
    again = AutoModelForPreTraining.from_pretrained(tmp_path)
    assert type(again) is CNMBertForPreTraining
    word_embeddings = again.bert.embeddings.word_embeddings.weight
    assert again.cls.predictions.decoder.weight is word_embeddings
    assert again.cls.predictions.decoder.bias is again.cls.predictions.bias
    state = again.state_dict()
    assert all(torch.equal(state[key], tensor) for key, tensor in model.state_dict().items())
    assert state["bert.structure.node_operator"].dtype == torch.uint8


@pytest.mark.parametrize("cls", [CNMBertModel, CNMBertForMaskedLM, CNMBertForPreTraining])
def test_every_class_loads_it_and_none_warns(model, tokenizer, tmp_path, cls, caplog):
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    logger = logging.getLogger("transformers")
    logger.addHandler(caplog.handler)
    try:
        loaded, _ = load_or_wrap(tmp_path, cls=cls)
    finally:
        logger.removeHandler(caplog.handler)
    assert not caplog.records
    assert type(loaded) is cls
    ids = tokenizer(TEXTS, padding=True, return_tensors="pt")["input_ids"]
    encoder = getattr(loaded, "bert", loaded)
    with torch.no_grad():
        assert torch.equal(encoder(ids)[0], model.bert(ids)[0])


def test_an_encoder_gets_new_heads(cnm_folder, tmp_path):
    models = []
    for _ in range(2):
        torch.manual_seed(11)
        models.append(load_or_wrap(cnm_folder, cls=CNMBertForPreTraining)[0])
    state, other = (model.state_dict() for model in models)
    assert all(torch.equal(state[key], other[key]) for key in state)
    encoder = CNMBertModel.from_pretrained(cnm_folder).state_dict()
    for key, tensor in encoder.items():
        assert key.startswith("pooler.") or torch.equal(state[f"bert.{key}"], tensor)
    assert not state["cls.predictions.bias"].any()
    assert state["component_head.dense.weight"].std() > 0


def test_settings_of_a_run_override_those_of_the_checkpoint(cnm_folder):
    settings = {"structure_input": "none", "component_loss_weight": 0.0}
    model, _ = load_or_wrap(cnm_folder, cls=CNMBertForPreTraining, model_config=settings)
    assert (model.config.structure_input, model.config.component_loss_weight) == ("none", 0.0)
    with pytest.raises(CNMError, match="structure_input"):
        load_or_wrap(cnm_folder, model_config={"structure_input": "forest"})


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("component_head.dense.bias", "missing"),
        ("component_head.surplus", "unexpected"),
        ("bert.structure.surplus", "unexpected"),
        ("bert.structure.roots", "missing"),
        ("cls.predictions.bias", "missing"),
    ],
)
def test_damaged_keys_are_named(model, tmp_path, key, change):
    model.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    state = load_file(path)
    if change == "missing":
        del state[key]
    else:
        state[key] = torch.zeros(2)
    save_file(state, path, metadata={"format": "pt"})
    with pytest.raises(CNMError, match=key.replace(".", r"\.")):
        CNMBertForPreTraining.from_pretrained(tmp_path)


def test_half_precision_file_is_a_float32_model(model, batch, tmp_path):
    model.half().save_pretrained(tmp_path)
    rounded = model.float()
    for cls in (CNMBertForPreTraining, AutoModelForPreTraining):
        again = cls.from_pretrained(tmp_path)
        assert {p.dtype for p in again.parameters()} == {torch.float32}
        with torch.no_grad():
            assert torch.equal(again(**batch).loss, rounded(**batch).loss)


def test_int32_operators_of_older_checkpoints(cnm_folder, tmp_path):
    folder = shutil.copytree(cnm_folder, tmp_path / "older")
    state = load_file(folder / "model.safetensors")
    state["structure.node_operator"] = state["structure.node_operator"].int()
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    one, other = CNMBertModel.from_pretrained(folder), CNMBertModel.from_pretrained(cnm_folder)
    rows = torch.arange(2, 300)
    with torch.no_grad():
        assert torch.equal(one.structure(rows), other.structure(rows))


def test_a_bert_keeps_its_head(bert_folder, base_tokenizer):
    model, tokenizer = load_or_wrap(bert_folder, cls=CNMBertForPreTraining)
    base = BertForMaskedLM.from_pretrained(bert_folder).eval()
    with torch.no_grad():
        ours = model(**tokenizer("今天天气很好", return_tensors="pt")).mlm_logits
        theirs = base(**base_tokenizer("今天天气很好", return_tensors="pt")).logits
    assert (ours - theirs).abs().max() < 1e-5
    assert type(CNMBertForPreTraining.from_bert(base, tokenizer=tokenizer)) is type(model)


def test_component_head_counts_as_structure(model):
    counts = parameter_counts(model)
    assert counts["component head"] == 16 * 16 + 16 + 2 * 16
    assert counts["backbone"] + counts["structure side in all"] == model.num_parameters()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("structure_input", "forest"),
        ("structure_input", True),
        ("component_loss_weight", -0.1),
        ("component_loss_weight", float("nan")),
        ("component_loss_weight", True),
        ("component_loss_weight", "0.1"),
        ("operator_loss_weight", -0.1),
        ("learn_structure_scale", 1),
        ("freeze_structure", 1),
        ("token_dropout", 1.0),
        ("token_dropout", -0.1),
        ("token_dropout", float("nan")),
    ],
)
def test_settings_are_checked(key, value):
    with pytest.raises(CNMError, match=key):
        CNMBertConfig(**{key: value})


def test_row_counts_are_few_and_not_much_larger():
    counts = [padded_count(n) for n in range(5000)]
    assert all(n <= count for n, count in enumerate(counts))
    assert all(count <= n * 9 / 8 for n, count in enumerate(counts) if n >= 64)
    assert counts == sorted(counts)
    assert min(counts) == 16
    assert len(set(counts)) < 70
