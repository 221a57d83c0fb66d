"""Case 8: a component that gets its own copy of the encoder predicts what it did before."""

import copy
import pickle

import pytest
import spacy

TEXTS = ["我在北京见到了王小明", "", "重䢖道藏 和\t䶮", "今天hello 2020年", "  "]
LISTENER = "model.tok2vec"
LOAD = """
import sys, spacy
nlp = spacy.load(sys.argv[1])
assert nlp.pipe_names == ["ner"]
print([[(ent.start, ent.end, ent.label_) for ent in doc.ents] for doc in nlp.pipe(sys.argv[2:])])
"""


def predictions(nlp, described):
    return [described(doc) for doc in nlp.pipe(TEXTS)]


@pytest.fixture
def nlp(trained_folder):
    return spacy.load(trained_folder)


@pytest.mark.parametrize("names", [["ner"], ["tagger"], ["ner", "tagger", "textcat"]])
def test_replaced_after_load(nlp, described, tmp_path, names):
    expected = predictions(nlp, described)
    for name in names:
        nlp.replace_listeners("transformer", name, [LISTENER])
        layer = nlp.config["components"][name]["model"]["tok2vec"]
        assert layer["@architectures"] == "spacy_cnm.Tok2VecCNMTransformer.v1"
    assert predictions(nlp, described) == expected
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert predictions(loaded, described) == expected
    assert predictions(loaded.from_bytes(nlp.to_bytes()), described) == expected


@pytest.mark.parametrize("names", [["ner"], ["ner", "tagger"]])
def test_sourced_and_replaced_in_a_config(trained, trained_folder, described, tmp_path, names):
    source = {"source": str(trained_folder), "replace_listeners": [LISTENER]}
    config = {
        "nlp": {**trained.config["nlp"], "pipeline": names},
        "components": {name: source for name in names},
    }
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        for text in TEXTS:
            assert pipeline(text).to_json()["ents"] == trained(text).to_json()["ents"]
            if "tagger" in names:
                assert [t.tag_ for t in pipeline(text)] == [t.tag_ for t in trained(text)]


def test_a_pipeline_without_transformer_loads_with_spacy_alone(
    trained, trained_folder, tmp_path, run_python
):
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": trained.config["nlp"]["tokenizer"]}})
    source = spacy.load(trained_folder)
    source.replace_listeners("transformer", "ner", [LISTENER])
    nlp.add_pipe("ner", source=source)
    nlp.to_disk(tmp_path)
    expected = [[(e.start, e.end, e.label_) for e in trained(text).ents] for text in TEXTS]
    assert run_python(LOAD, tmp_path, *TEXTS).strip() == str(expected)


def test_training_goes_on_separately(nlp, train, examples, described, tmp_path):
    nlp.replace_listeners("transformer", "ner", [LISTENER])
    shared = nlp.get_pipe("transformer").model
    own = nlp.get_pipe("ner").model.get_ref("tok2vec").layers[0].layers[0].layers[0]
    assert type(own) is type(shared)
    before = shared.transformer.fusion.linear.weight.clone()
    optimizer = nlp.resume_training()
    for _ in range(3):
        nlp.update(examples(nlp), sgd=optimizer, exclude=["transformer", "tagger", "textcat"])
    assert shared.transformer.fusion.linear.weight.equal(before)
    assert not own.transformer.fusion.linear.weight.equal(before)
    train(nlp, 2, initialize=False)
    assert not shared.transformer.fusion.linear.weight.equal(before)
    nlp.to_disk(tmp_path)
    assert predictions(spacy.load(tmp_path), described) == predictions(nlp, described)


def test_replaced_pipelines_are_copied_and_pickled(nlp, described):
    nlp.replace_listeners("transformer", "ner", [LISTENER])
    expected = predictions(nlp, described)
    assert predictions(copy.deepcopy(nlp), described) == expected
    assert predictions(pickle.loads(pickle.dumps(nlp)), described) == expected


def test_the_layer_is_trained_from_a_config(cnm_folder, train, tmp_path, described):
    layer = {
        "@architectures": "spacy_cnm.Tok2VecCNMTransformer.v1",
        "name": str(cnm_folder),
        "get_spans": {"@span_getters": "spacy_cnm.wordpiece_spans.v1", "window": 30, "stride": 20},
        "pooling": {"@layers": "reduce_mean.v1"},
    }
    nlp = spacy.blank("zh")
    nlp.add_pipe(
        "tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": layer}}
    )
    first = train(nlp, 1)
    last = train(nlp, 5, initialize=False)
    assert last["tagger"] < first["tagger"]
    nlp.to_disk(tmp_path)
    assert predictions(spacy.load(tmp_path), described) == predictions(nlp, described)
