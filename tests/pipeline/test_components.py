"""Every kind of component listens, trains, saves and loads; the encoder trains with it."""

import numpy
import pytest
import spacy
from thinc.api import Adam

LISTENING = [
    "ner",
    "tagger",
    "textcat",
    "textcat_multilabel",
    "morphologizer",
    "parser",
    "spancat",
]
TEXTS = ["我在北京见到了王小明", "", "重䢖道藏 和\t䶮", "今天hello 2020年😀"]


def encoder(nlp, name="transformer"):
    return nlp.get_pipe(name).model.transformer


def weights(nlp):
    return {key: value.clone() for key, value in encoder(nlp).state_dict().items()}


def changed(before, after):
    return {key for key in before if not before[key].equal(after[key])}


@pytest.mark.parametrize("pipe", LISTENING)
def test_component_trains_saves_and_loads(build, train, described, cnm_folder, tmp_path, pipe):
    nlp = build(cnm_folder, pipe)
    first = train(nlp, 1)
    last = train(nlp, 4, initialize=False)
    assert last[pipe] < first[pipe]
    assert last["transformer"] > 0
    expected = [described(doc) for doc in nlp.pipe(TEXTS)]
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [described(doc) for doc in loaded.pipe(TEXTS)] == expected


def test_one_encoder_serves_many_components(trained, trained_folder, described):
    doc = trained("我在北京见到了王小明")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("北京", "LOC"), ("王小明", "PER")]
    assert doc[2].tag_ == "B-ns"
    assert doc.cats["news"] > 0.5
    loaded = spacy.load(trained_folder)
    for text in TEXTS:
        assert described(loaded(text)) == described(trained(text))


def test_gradients_of_all_listeners_are_added(build, train, examples, cnm_folder):
    """Two listeners give the encoder the sum of what each alone gives."""
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    nlp = build(cnm_folder, "tagger", "textcat", transformer_config=no_dropout)
    train(nlp, 1)
    batch = examples(nlp)

    def gradient(*names):
        part = spacy.blank("zh", vocab=nlp.vocab)
        for name in ("transformer", *names):
            part.add_pipe(name, source=nlp)
        part.update(batch, sgd=False)
        grad = encoder(part).encoder.layer[0].output.dense.weight.grad.clone()
        encoder(part).zero_grad()
        return grad

    both = gradient("tagger", "textcat")
    assert both.abs().max() > 0
    assert numpy.allclose(both, gradient("tagger") + gradient("textcat"), atol=1e-6)


def test_accumulated_gradients_are_one_step(build, train, examples, cnm_folder):
    nlp = build(cnm_folder, "tagger")
    train(nlp, 1)
    before = weights(nlp)
    batch = examples(nlp)
    nlp.update(batch[:2], sgd=False)
    nlp.update(batch[2:], sgd=False)
    assert not changed(before, weights(nlp))
    nlp.get_pipe("transformer").finish_update(Adam(0.01))
    assert "fusion.linear.weight" in changed(before, weights(nlp))


def test_training_changes_weights_but_no_table(build, train, bert_folder):
    nlp = build(bert_folder, "tagger")
    train(nlp, 0)
    before = weights(nlp)
    train(nlp, 2, initialize=False)
    keys = changed(before, weights(nlp))
    assert {"fusion.linear.weight", "structure.component_embeddings.weight"} <= keys
    tables = {key for key, value in before.items() if not value.is_floating_point()}
    assert tables
    assert not tables & keys


def test_frozen_transformer_annotates(build, train, examples, cnm_folder):
    nlp = build(cnm_folder, "tagger")
    first = train(nlp, 1)
    before = weights(nlp)
    optimizer = nlp.resume_training()
    for _ in range(3):
        losses = nlp.update(
            examples(nlp), sgd=optimizer, exclude=["transformer"], annotates=["transformer"]
        )
    assert losses["tagger"] < first["tagger"]
    assert not changed(before, weights(nlp))


def test_grad_factor_zero_keeps_the_encoder(build, train, examples, cnm_folder):
    nlp = build(cnm_folder)
    config = nlp.get_pipe_config("transformer")
    assert config["model"]["name"] == str(cnm_folder)
    listener = {
        "@architectures": "spacy-transformers.TransformerListener.v1",
        "grad_factor": 0.0,
        "pooling": {"@layers": "reduce_mean.v1"},
    }
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    nlp.add_pipe("tagger", config={"model": tagger})
    train(nlp, 0)
    before = weights(nlp)
    optimizer = Adam(0.01, L2=0.0)  # decay changes weights without a gradient, too
    for _ in range(2):
        nlp.update(examples(nlp), sgd=optimizer)
    assert not changed(before, weights(nlp))


def test_same_seed_same_weights(build, train, cnm_folder):
    runs = []
    for _ in range(2):
        nlp = build(cnm_folder, "ner", "tagger")
        train(nlp, 3, drop=0.1)
        runs.append(weights(nlp))
    assert not changed(*runs)


def test_dropout_in_training_only(build, train, cnm_folder, examples):
    nlp = build(cnm_folder, "tagger")
    train(nlp, 0)
    model = nlp.get_pipe("transformer").model
    docs = [example.predicted for example in examples(nlp)]
    first, second = (model.begin_update(docs)[0].model_output[0] for _ in range(2))
    assert not first.equal(second)
    first, second = (model.predict(docs).model_output[0] for _ in range(2))
    assert first.equal(second)


def test_prediction_follows_training(build, train, cnm_folder, vectors_of):
    """The vectors that evaluation keeps do not outlive a training step."""
    nlp = build(cnm_folder, "tagger")
    train(nlp, 1)
    before = vectors_of(nlp("䢖刋"))
    assert len(encoder(nlp).structure.cache)
    train(nlp, 1, initialize=False)
    after = vectors_of(nlp("䢖刋"))
    assert (before - after).abs().max() > 1e-4
    encoder(nlp).structure.cache = type(encoder(nlp).structure.cache)()
    assert vectors_of(nlp("䢖刋")).equal(after)


def test_averaged_weights_are_used_and_put_back(build, examples, cnm_folder, vectors_of, tmp_path):
    nlp = build(cnm_folder, "tagger")
    batch = examples(nlp)
    nlp.initialize(lambda: batch)
    optimizer = Adam(0.01, use_averages=True)
    for _ in range(3):
        nlp.update(batch, sgd=optimizer)
    now = weights(nlp)
    vectors = vectors_of(nlp("䢖刋"))
    with nlp.use_params(optimizer.averages):
        averaged = weights(nlp)
        assert "fusion.linear.weight" in changed(now, averaged)
        other = vectors_of(nlp("䢖刋"))
        nlp.to_disk(tmp_path)
    assert not changed(now, weights(nlp))
    assert vectors_of(nlp("䢖刋")).equal(vectors)
    assert (other - vectors).abs().max() > 1e-4
    loaded = spacy.load(tmp_path)
    assert not changed(averaged, weights(loaded))
    assert vectors_of(loaded("䢖刋")).equal(other)


def test_resumed_training_goes_on(build, train, cnm_folder, tmp_path):
    nlp = build(cnm_folder, "ner", "tagger")
    train(nlp, 2)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    first = train(loaded, 1, initialize=False)
    last = train(loaded, 20, initialize=False)
    assert last["ner"] < first["ner"]
    assert last["tagger"] < first["tagger"]
