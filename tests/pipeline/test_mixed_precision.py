"""Case 16: mixed precision trains, on the CPU (bfloat16) and on a GPU (float16)."""

import pytest
import spacy
import torch
from thinc.api import require_cpu, require_gpu

from spacy_cnm.pipeline.architectures import create_cnm_transformer
from spacy_cnm.pipeline.span_getters import WordpieceSpans


@pytest.fixture(autouse=True, params=[True])
def has_bfloat16(request, monkeypatch):
    """The CPU that tests run on may have it or not; both are tested on every one."""
    monkeypatch.setattr("spacy_cnm.pipeline.shim.cpu_has_bfloat16", lambda: request.param)


@pytest.mark.parametrize("scaler", [{}, {"init_scale": 256.0}, {"enabled": True}])
def test_case_16_three_steps_on_the_cpu(build, train, cnm_folder, tmp_path, scaler, described):
    settings = {"mixed_precision": True, "grad_scaler_config": scaler}
    nlp = build(cnm_folder, "ner", "tagger", **settings)
    first = train(nlp, 1)
    last = train(nlp, 2, initialize=False)
    assert last["tagger"] < first["tagger"]
    model = nlp.get_pipe("transformer").model
    assert all(torch.isfinite(weight).all() for weight in model.transformer.parameters())
    assert {weight.dtype for weight in model.transformer.parameters()} == {torch.float32}
    doc = nlp("重䢖道藏")
    assert doc._.trf_data.model_output.last_hidden_state.dtype == "float32"
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert described(loaded("重䢖道藏")) == described(doc)
    nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
    assert described(nlp("重䢖道藏")) == described(doc)


def test_the_cpu_computes_in_bfloat16(build, cnm_folder, vectors_of):
    """Close to full precision, but not equal to it."""
    vectors = []
    for mixed in (False, True):
        nlp = build(
            cnm_folder,
            mixed_precision=mixed,
            transformer_config={"output_hidden_states": True, "output_attentions": True},
        )
        nlp.initialize()
        doc = nlp("重䢖道藏很好")
        vectors.append(vectors_of(doc))
        assert {state.dtype.name for state in doc._.trf_data.model_output.hidden_states} == {
            "float32"
        }
    difference = (vectors[0] - vectors[1]).abs().max()
    assert 0 < difference < 0.1


@pytest.mark.parametrize("has_bfloat16", [False], indirect=True)
def test_a_cpu_without_it_computes_in_float32(build, cnm_folder, vectors_of):
    """There bfloat16 is many times slower."""
    vectors = []
    for mixed in (False, True):
        nlp = build(cnm_folder, mixed_precision=mixed)
        nlp.initialize()
        vectors.append(vectors_of(nlp("重䢖道藏很好")))
    assert torch.equal(*vectors)


def test_settings_are_not_shared_between_models(cnm_folder):
    """A dictionary that one model changes would switch scaling for the next."""
    scaler = {}
    for mixed in (True, False, True):
        model = create_cnm_transformer(
            str(cnm_folder),
            WordpieceSpans(8, 8),
            mixed_precision=mixed,
            grad_scaler_config=scaler,
        )
        assert model.layers[0].shims[0]._bfloat16 is mixed
    assert scaler == {}
    assert create_cnm_transformer.__defaults__ == ({"use_fast": True}, {}, False, {}, {})


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_case_16_three_steps_on_the_gpu(build, train, cnm_folder, described, tmp_path):
    require_gpu()
    try:
        nlp = build(cnm_folder, "ner", "tagger", mixed_precision=True)
        first = train(nlp, 1)
        last = train(nlp, 5, initialize=False)
        assert last["tagger"] < first["tagger"]
        weights = list(nlp.get_pipe("transformer").model.transformer.parameters())
        assert all(torch.isfinite(weight).all() for weight in weights)
        expected = described(nlp("重䢖道藏"))
        nlp.to_disk(tmp_path)
        assert described(spacy.load(tmp_path)("重䢖道藏")) == expected
    finally:
        require_cpu()
