"""A saved pipeline is complete, and refuses to load what does not fit."""

import copy
import pickle
import shutil
from io import BytesIO

import pytest
import spacy
import srsly
import torch
from safetensors.torch import load, save

from spacy_cnm.errors import CNMError

TEXTS = ["我在北京见到了王小明", "", "重䢖道藏 和\t䶮", "[MASK]今天[PAD]"]
#: Loads a pipeline and prints what it finds, having imported nothing but spaCy.
PREDICT = """
import sys, spacy
nlp = spacy.load(sys.argv[1])
for doc in nlp.pipe(sys.argv[2:]):
    print([(ent.start, ent.end, ent.label_) for ent in doc.ents], [t.tag_ for t in doc])
"""


@pytest.fixture
def folder(trained_folder, tmp_path):
    return shutil.copytree(trained_folder, tmp_path / "pipeline")


def edit_message(folder, change):
    """Change the message that the encoder is stored in: change(message) in place."""
    path = folder / "transformer" / "model"
    stored = srsly.msgpack_loads(path.read_bytes())
    (shims,) = (shims for shims in stored["shims"] if shims)
    message = srsly.msgpack_loads(shims[0])
    change(message)
    shims[0] = srsly.msgpack_dumps(message)
    path.write_bytes(srsly.msgpack_dumps(stored))


def edit_weights(folder, change):
    def change_message(message):
        state = load(message["state"])
        change(state)
        message["state"] = save(state)

    edit_message(folder, change_message)


def predictions(nlp, described):
    return [described(doc) for doc in nlp.pipe(TEXTS)]


# --- round trips ---------------------------------------------------------------------------------


def test_case_10_pickled_and_copied_pipelines_predict_the_same(trained, described):
    expected = predictions(trained, described)
    assert predictions(pickle.loads(pickle.dumps(trained)), described) == expected
    assert predictions(copy.deepcopy(trained), described) == expected


@pytest.mark.parametrize("how", ["pickle", "deepcopy", "to_bytes"])
def test_case_10_the_component_alone(trained, vectors_of, how):
    pipe = trained.get_pipe("transformer")
    if how == "pickle":
        other = pickle.loads(pickle.dumps(pipe))
    elif how == "deepcopy":
        other = copy.deepcopy(pipe)
    else:
        blank = spacy.blank("zh", vocab=trained.vocab)
        other = blank.add_pipe(
            "transformer", config={"model": trained.get_pipe_config("transformer")["model"]}
        )
        other.from_bytes(pipe.to_bytes())
    assert other.model is not pipe.model
    for text in TEXTS[0], TEXTS[2], TEXTS[3]:
        doc = trained.make_doc(text)
        assert vectors_of(other(doc)).equal(vectors_of(trained(text)))


def test_a_copy_is_independent_and_of_the_same_class(trained, build, cnm_folder):
    model = trained.get_pipe("transformer").model
    copied = model.copy()
    assert type(copied) is type(model)
    assert copied.id != model.id
    assert copied.attrs["name"] == model.attrs["name"]
    assert copied.attrs["get_spans"] == model.attrs["get_spans"]
    before = model.transformer.fusion.linear.weight.clone()
    with torch.no_grad():
        copied.transformer.fusion.linear.weight.zero_()
    assert model.transformer.fusion.linear.weight.equal(before)
    blank = build(cnm_folder).get_pipe("transformer").model
    assert blank.copy().transformer is None


def test_saving_twice_gives_the_same_bytes(trained, trained_folder):
    model = trained.get_pipe("transformer").model
    assert model.to_bytes() == model.to_bytes()
    loaded = spacy.load(trained_folder)
    assert loaded.get_pipe("transformer").model.to_bytes() == model.to_bytes()


def test_an_uninitialized_pipeline_is_saved_and_initialized_later(build, cnm_folder, tmp_path):
    settings = {
        "structure_config": {"structure_size": 16},
        "transformer_config": {"hidden_dropout_prob": 0.25},
    }
    build(cnm_folder, **settings).to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    with pytest.raises(CNMError, match="initialize"):
        loaded("北京")
    loaded.initialize()
    assert loaded("北京")._.trf_data.width == 32
    assert loaded.get_pipe("transformer").model.transformer.config.hidden_dropout_prob == 0.25


def test_case_12_used_before_initialize(build, cnm_folder):
    nlp = build(cnm_folder, "ner")
    with pytest.raises(CNMError, match=r"nlp\.initialize.*spacy\.load"):
        nlp("北京")
    with pytest.raises(CNMError, match=r"nlp\.initialize.*spacy\.load"):
        list(nlp.pipe(["北京", "上海"]))


# --- elsewhere -----------------------------------------------------------------------------------


def test_case_14_nothing_else_is_needed(build, train, described, cnm_folder, tmp_path, run_python):
    """The encoder, the config's paths and the folder of the training are gone."""
    encoder = shutil.copytree(cnm_folder, tmp_path / "encoder")
    nlp = build(encoder, "ner", "tagger")
    train(nlp, 20)
    expected = predictions(nlp, described)
    printed = "".join(
        f"{[(e.start, e.end, e.label_) for e in doc.ents]} {[t.tag_ for t in doc]}\n"
        for doc in nlp.pipe(TEXTS)
    )
    nlp.to_disk(tmp_path / "trained")
    shutil.rmtree(encoder)
    moved = shutil.move(tmp_path / "trained", tmp_path / "moved")
    assert run_python(PREDICT, moved, *TEXTS) == printed
    # Training goes on, and components are sourced, without the encoder.
    loaded = spacy.load(moved)
    assert loaded.config["components"]["transformer"]["model"]["name"] == str(encoder)
    train(loaded, 2, initialize=False)
    assert predictions(spacy.load(moved), described) == expected


def test_case_14_sourced_and_frozen_in_a_new_config(
    trained, trained_folder, described, examples, tmp_path
):
    config = {
        "nlp": {**trained.config["nlp"], "pipeline": ["transformer", "ner", "textcat"]},
        "components": {
            "transformer": {"source": str(trained_folder)},
            "ner": {"source": str(trained_folder)},
            "textcat": trained.config["components"]["textcat"],
        },
        "training": {
            "frozen_components": ["transformer", "ner"],
            "annotating_components": ["transformer"],
        },
    }
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    batch = examples(nlp)
    with nlp.select_pipes(disable=["transformer", "ner"]):
        optimizer = nlp.initialize(lambda: batch)
    frozen = nlp.get_pipe("transformer").model.to_bytes()
    for _ in range(3):
        losses = nlp.update(
            batch,
            sgd=optimizer,
            losses={},
            exclude=nlp.config["training"]["frozen_components"],
            annotates=nlp.config["training"]["annotating_components"],
        )
    assert losses["textcat"] > 0
    assert nlp.get_pipe("transformer").model.to_bytes() == frozen
    nlp.to_disk(tmp_path)
    for text in TEXTS:
        assert described(nlp(text))[1] == described(trained(text))[1]
        assert described(spacy.load(tmp_path)(text)) == described(nlp(text))


# --- case 11: what does not fit ------------------------------------------------------------------


@pytest.mark.parametrize(
    "key", ["structure.binary.weight", "structure.roots", "fusion.linear.bias", "token_index"]
)
def test_case_11_missing_key(folder, key):
    edit_weights(folder, lambda state: state.pop(key))
    with pytest.raises(CNMError, match=f"missing.*{key}"):
        spacy.load(folder)


def test_case_11_extra_key(folder):
    edit_weights(folder, lambda state: state.update({"structure.surplus": torch.zeros(2)}))
    with pytest.raises(CNMError, match=r"unexpected.*structure\.surplus"):
        spacy.load(folder)


@pytest.mark.parametrize("key", ["structure.component_embeddings.weight", "fusion.linear.weight"])
def test_case_11_misshapen_key(folder, key):
    edit_weights(folder, lambda state: state.update({key: state[key][:-1].clone()}))
    with pytest.raises(CNMError, match=key):
        spacy.load(folder)


def test_case_11_index_out_of_range(folder):
    edit_weights(folder, lambda state: state["struct_index"].__setitem__(3, 10**6))
    with pytest.raises(CNMError, match="struct_index"):
        spacy.load(folder)


def test_case_11_weights_cut_off(folder):
    edit_message(folder, lambda message: message.update(state=message["state"][:-100]))
    with pytest.raises(CNMError, match="cut off"):
        spacy.load(folder)


def test_case_11_file_cut_off(folder):
    path = folder / "transformer" / "model"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(CNMError, match="damaged"):
        spacy.load(folder)


def test_case_11_pickled_weights(folder):
    def pickle_weights(message):
        file = BytesIO()
        torch.save(load(message["state"]), file)
        message["state"] = file.getvalue()

    edit_message(folder, pickle_weights)
    with pytest.raises(CNMError, match="Pickled weights are not read"):
        spacy.load(folder)


def test_case_11_newer_format(folder):
    edit_message(folder, lambda message: message.update(format=2))
    with pytest.raises(CNMError, match="format 2"):
        spacy.load(folder)


def test_case_11_missing_part(folder):
    edit_message(folder, lambda message: message.pop("tokenizer"))
    with pytest.raises(CNMError, match="tokenizer"):
        spacy.load(folder)


def test_case_11_another_kind_of_model(folder):
    edit_message(folder, lambda message: message["config"].update(model_type="bert"))
    with pytest.raises(CNMError, match="'bert'"):
        spacy.load(folder)


def test_message_of_a_later_stock_shim_is_read(folder, trained, described):
    """As spacy-transformers 2 would write it: safetensors, no format, other parts around."""

    def rewrite(message):
        del message["format"]
        message["tokenizer"]["kwargs"] = {"use_fast": True}
        message["config"]["_name_or_path"] = "/no/such/folder"
        message["something_new"] = {"a": [1, 2]}

    edit_message(folder, rewrite)
    assert predictions(spacy.load(folder), described) == predictions(trained, described)


def test_stored_parts_hold_no_pickle_and_no_path(trained_folder, cnm_folder):
    seen = {}
    edit = trained_folder / "transformer" / "model"
    stored = srsly.msgpack_loads(edit.read_bytes())
    (shims,) = (shims for shims in stored["shims"] if shims)
    seen = srsly.msgpack_loads(shims[0])
    assert seen["format"] == 1
    assert load(seen["state"]).keys() >= {"token_index", "structure.roots"}
    assert "_name_or_path" not in seen["config"]
    assert str(cnm_folder).encode() not in shims[0]
