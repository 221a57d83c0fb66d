"""`token._.cnm_structure` and `token._.cnm_vector`."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc, DocBin

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import Leaf, StructureTable
from spacy_cnm.pipeline.encoders import encoders_of

TEXTS = ["重䢖道藏。", "", " \n", "今天hello 😀杲杳", "𬭸木日" * 40]
COMPARE = """
import sys, numpy, spacy
nlp = spacy.load(sys.argv[1])
texts = sys.argv[2:] * 5
expected = [doc._.cnm_vectors for doc in nlp.pipe(texts)]
found = [doc._.cnm_vectors for doc in nlp.pipe(texts, n_process=2, batch_size=5)]
assert all(numpy.array_equal(a, b) for a, b in zip(expected, found, strict=True))
"""


@pytest.fixture(scope="module")
def nlp(trained_folder):
    nlp = spacy.load(trained_folder)
    nlp.add_pipe("cnm_structure")
    return nlp


def expected(nlp, char: str) -> np.ndarray:
    layer = next(encoders_of(nlp))
    model = layer.transformer
    row = StructureTable.default()[char]
    with torch.no_grad():
        return model.structure(torch.tensor([row]))[0].numpy()


def test_trees():
    nlp = spacy.blank("zh")
    doc = Doc(nlp.vocab, ["杲", "杲杳", "一", "x", "王x", " "])
    trees = [token._.cnm_structure for token in doc]
    assert str(trees[0]) == "⿱日木"
    assert [str(tree) for tree in trees[1]] == ["⿱日木", "⿱木日"]
    assert trees[2] == Leaf("一")
    assert trees[3] is None
    assert trees[4][1] is None
    assert trees[5] is None


def test_vectors(nlp):
    doc = nlp("杲x杳")
    assert doc._.cnm_vectors.dtype == np.float32
    assert doc._.cnm_vectors.shape == (3, 16)
    assert np.allclose(doc[0]._.cnm_vector, expected(nlp, "杲"), atol=1e-6)
    assert not doc[1]._.cnm_vector.any()
    assert not np.allclose(doc[0]._.cnm_vector, doc[2]._.cnm_vector)


def test_a_word_is_the_mean_of_its_characters_with_a_tree(nlp):
    doc = nlp.get_pipe("cnm_structure")(Doc(nlp.vocab, ["杲x杳", "。"]))
    mean = (expected(nlp, "杲") + expected(nlp, "杳")) / 2
    assert np.allclose(doc[0]._.cnm_vector, mean, atol=1e-6)
    assert not doc[1]._.cnm_vector.any()


@pytest.mark.parametrize("text", TEXTS)
def test_any_text(nlp, text):
    doc = nlp(text)
    assert doc._.cnm_vectors.shape == (len(doc.text), 16)
    assert np.isfinite(doc._.cnm_vectors).all()
    copy = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert np.array_equal(copy._.cnm_vectors, doc._.cnm_vectors)
    (kept,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    assert np.array_equal(kept._.cnm_vectors, doc._.cnm_vectors)


def test_saved_and_loaded(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert np.array_equal(loaded(TEXTS[0])._.cnm_vectors, nlp(TEXTS[0])._.cnm_vectors)


def test_in_processes(nlp, tmp_path, run_python):
    nlp.to_disk(tmp_path)
    run_python(COMPARE, tmp_path, *TEXTS, timeout=180)


def test_the_component_is_pickled(nlp):
    """As it is for processes that are spawned."""
    component = pickle.loads(pickle.dumps(nlp.get_pipe("cnm_structure")))
    doc = component(nlp.make_doc("杲"))
    assert np.allclose(doc[0]._.cnm_vector, expected(nlp, "杲"), atol=1e-6)


def test_characters_like_others_by_the_encoder_of_a_pipeline(trained_folder):
    command = [sys.executable, "-m", "spacy_cnm", "similar", "晴", "-n", "2"]
    command += ["--model", str(trained_folder)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert len(found.stdout.split()) == 5


def test_without_the_component():
    doc = Doc(spacy.blank("zh").vocab, ["杲"])
    with pytest.raises(CNMError, match=r"nlp\.add_pipe\('cnm_structure'\)"):
        _ = doc[0]._.cnm_vector


def test_a_pipeline_without_an_encoder(build, cnm_folder):
    nlp = spacy.blank("zh")
    nlp.add_pipe("cnm_structure")
    with pytest.raises(CNMError, match="cnm_structure needs a CNM-BERT"):
        nlp("杲")
    nlp = build(cnm_folder)  # is not initialized
    nlp.add_pipe("cnm_structure")
    with pytest.raises(CNMError, match="initialized"):
        nlp.get_pipe("cnm_structure")(nlp.make_doc("杲"))


def test_tokens_joined_and_split_afterwards(nlp):
    """A vector is that of the characters that a token has now."""
    doc = nlp.get_pipe("cnm_structure")(
        Doc(nlp.vocab, ["杲杳", "x", "木日"], spaces=[True, False, False])
    )
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
        retokenizer.split(doc[0], ["杲", "杳"], heads=[doc[1], doc[1]])
    assert [token.text for token in doc] == ["杲", "杳", "x木日"]
    for token, chars in zip(doc, ["杲", "杳", "木日"], strict=True):
        mean = sum(expected(nlp, char) for char in chars) / len(chars)
        assert np.allclose(token._.cnm_vector, mean, atol=1e-6)


def test_the_encoder_may_be_disabled(nlp):
    with nlp.select_pipes(enable=["cnm_structure"]):
        assert np.allclose(nlp("杲")[0]._.cnm_vector, expected(nlp, "杲"), atol=1e-6)
