"""On texts that plain BERT knows, the same public behaviour and numbers as the stock model."""

import numpy
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy_transformers.data_classes import FullTransformerBatch, TransformerData
from transformers import AutoModel

TEXTS = ["今天天气很好。", "我在北京见到了王小明，他说abc 100%", "", "重道藏日木生金色塚", "  一"]
STRIDED = {"@span_getters": "spacy-transformers.strided_spans.v1", "window": 8, "stride": 6}


@pytest.fixture(scope="module", params=[{}, {"output_hidden_states": True}], ids=["plain", "all"])
def pipelines(request, build, bert_folder, tmp_path_factory):
    """Our pipeline and the stock one, on the same plain BERT."""
    # Without a pooler's weights each library would draw its own.
    folder = tmp_path_factory.mktemp("whole")
    AutoModel.from_pretrained(bert_folder).save_pretrained(folder)
    for path in bert_folder.glob("*token*"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "vocab.txt").write_bytes((bert_folder / "vocab.txt").read_bytes())
    ours = build(folder, get_spans=STRIDED, transformer_config=request.param)
    stock = spacy.blank("zh")
    model = {
        "@architectures": "spacy-transformers.TransformerModel.v3",
        "name": str(folder),
        "get_spans": STRIDED,
        "transformer_config": request.param,
    }
    stock.add_pipe("transformer", config={"model": model})
    for nlp in (ours, stock):
        nlp.initialize()
    return ours, stock


def test_same_annotations(pipelines):
    ours, stock = ([doc._.trf_data for doc in nlp.pipe(TEXTS)] for nlp in pipelines)
    for left, right in zip(ours, stock, strict=True):
        assert isinstance(left, TransformerData)
        assert left.wordpieces.strings == right.wordpieces.strings
        assert left.wordpieces.lengths == right.wordpieces.lengths
        assert numpy.array_equal(left.wordpieces.input_ids, right.wordpieces.input_ids)
        assert numpy.array_equal(left.align.dataXd, right.align.dataXd)
        assert numpy.array_equal(left.align.lengths, right.align.lengths)
        assert left.model_output.keys() == right.model_output.keys()
        for key, value in left.model_output.items():
            assert numpy.allclose(value, right.model_output[key], atol=1e-5)


def test_same_batch(pipelines):
    outputs = []
    for nlp in pipelines:
        docs = [nlp.make_doc(text) for text in TEXTS]
        outputs.append(nlp.get_pipe("transformer").predict(docs))
    ours, stock = outputs
    assert isinstance(ours, FullTransformerBatch)
    assert [[span.text for span in spans] for spans in ours.spans] == [
        [span.text for span in spans] for spans in stock.spans
    ]
    assert numpy.array_equal(ours.wordpieces.input_ids, stock.wordpieces.input_ids)
    assert ours.wordpieces.input_ids.dtype == stock.wordpieces.input_ids.dtype
    assert ours.wordpieces.attention_mask.dtype == stock.wordpieces.attention_mask.dtype
    assert ours.align.dataXd.dtype == stock.align.dataXd.dtype
    assert numpy.array_equal(ours.align.dataXd, stock.align.dataXd)
    assert numpy.allclose(ours.model_output[0], stock.model_output[0], atol=1e-5)


def test_dimensions_and_attributes(pipelines):
    ours, stock = (nlp.get_pipe("transformer").model for nlp in pipelines)
    assert ours.name == stock.name
    assert ours.get_dim("nO") == stock.get_dim("nO") == 32
    assert ours.attrs.keys() >= stock.attrs.keys() - {"logger"}
    assert [layer.name for layer in ours.walk()] == [layer.name for layer in stock.walk()]


def test_attentions(build, cnm_folder):
    nlp = build(cnm_folder, transformer_config={"output_attentions": True})
    nlp.initialize()
    for doc in nlp.pipe(["北京", "我在上海"]):
        attentions = doc._.trf_data.model_output.attentions
        assert len(attentions) == 2
        assert attentions[0].shape[1:3] == (2, attentions[0].shape[3])


def test_documents_keep_the_data_in_bytes(trained):
    doc = trained("我在北京见到了王小明")
    for other in (
        Doc(doc.vocab).from_bytes(doc.to_bytes()),
        next(DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)),
    ):
        data = other._.trf_data
        # spaCy's own way through msgpack makes tuples of lists.
        assert list(map(list, data.wordpieces.strings)) == doc._.trf_data.wordpieces.strings
        assert numpy.array_equal(data.align.dataXd, doc._.trf_data.align.dataXd)
