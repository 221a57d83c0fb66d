"""Documents without tokens, or without any word piece, anywhere in a batch."""

import pytest
import spacy
from spacy.training import Example

EMPTY = ["", "  \t\n", "\u3000", "\u200b"]
BATCHES = [
    ["", "北京"],
    ["北京", ""],
    ["", "", "北京", "", "上海", ""],
    ["  ", "北京", "\u200b"],
    ["", "  "],
    ["", ""],
    [],
]


@pytest.fixture(params=["shared", "own"])
def nlp(request, trained_folder):
    """The trained pipeline with listeners, and with an encoder in each component."""
    pipeline = spacy.load(trained_folder)
    if request.param == "own":
        for name in ("ner", "tagger", "textcat"):
            pipeline.replace_listeners("transformer", name, ["model.tok2vec"])
    return pipeline


@pytest.mark.parametrize("text", EMPTY)
def test_one_document(nlp, text):
    doc = nlp(text)
    assert doc.text == text
    if text.isspace():
        assert doc.ents == ()
    assert len(doc._.trf_data.align.lengths) == len(doc)
    # White space is aligned to nothing, an invisible character to [CLS].
    assert doc._.trf_data.align.lengths.any() == bool(text.strip())


@pytest.mark.parametrize("texts", BATCHES)
def test_batches(nlp, described, texts):
    docs = list(nlp.pipe(texts))
    assert [doc.text for doc in docs] == texts
    for doc in docs:
        if doc.text:  # the scores of an empty document are spaCy's affair
            assert described(doc) == described(nlp(doc.text))


@pytest.mark.parametrize("texts", BATCHES)
@pytest.mark.parametrize(
    "get_spans",
    [
        {"@span_getters": "spacy_cnm.wordpiece_spans.v1"},
        {"@span_getters": "spacy-transformers.strided_spans.v1", "window": 8, "stride": 4},
        {"@span_getters": "spacy-transformers.doc_spans.v1"},
    ],
)
def test_training_batches(build, cnm_folder, examples, get_spans, texts):
    nlp = build(cnm_folder, "ner", "tagger", "textcat", get_spans=get_spans)
    optimizer = nlp.initialize(lambda: examples(nlp))
    batch = []
    for text in texts:
        doc = nlp.make_doc(text)
        annotations = {
            "tags": ["B-n"] * len(doc),
            "entities": [(0, 2, "LOC")] if text == "北京" else [],
            "cats": {"news": 1.0, "talk": 0.0},
        }
        batch.append(Example.from_dict(doc, annotations))
    for _ in range(2):
        losses = nlp.update(batch, sgd=optimizer, losses={})
    if "北京" in texts:
        assert losses["transformer"] > 0
        assert losses["ner"] > 0


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_begin_update_without_tokens(trained, texts):
    docs = [trained.make_doc(text) for text in texts]
    model = trained.get_pipe("transformer").model
    output, backprop = model.begin_update(docs)
    assert [len(data.align.lengths) for data in output.doc_data] == [0] * len(docs)
    assert backprop(output) == docs


def test_training_after_replacing_listeners(trained_folder, examples):
    nlp = spacy.load(trained_folder)
    for name in ("ner", "tagger", "textcat"):
        nlp.replace_listeners("transformer", name, ["model.tok2vec"])
    optimizer = nlp.resume_training()
    empty = Example.from_dict(nlp.make_doc(""), {"cats": {"news": 1.0, "talk": 0.0}})
    blank = Example.from_dict(nlp.make_doc("  "), {"cats": {"news": 1.0, "talk": 0.0}})
    for batch in ([empty, *examples(nlp), blank], [empty], [empty, empty], [blank]):
        nlp.update(batch, sgd=optimizer, losses={})
    assert nlp("")._.trf_data is not None
