"""Case 5: entities across the borders of windows; books."""

import pytest
import torch

from spacy_cnm.pipeline import transformer_model


def test_case_5_entities_across_every_border(trained):
    """A name at the start of every window but the first, 30 pieces long, a new one every 20."""
    name, filler = "王小明", "今天天气很好" * 4
    text = filler[:19]
    for _ in range(19):
        text += name + filler[:17]
    doc = trained(text)
    spans = trained.get_pipe("transformer").model.predict([doc]).spans[0]
    starts = [19 + 20 * i for i in range(19)]
    assert len(spans) == 20
    assert all(any(s < span.start < s + 3 for s in starts) for span in spans[1:])
    found = [(ent.start, ent.end, ent.label_) for ent in doc.ents]
    assert found == [(start, start + 3, "PER") for start in starts]


@pytest.mark.parametrize(
    "settings", [{}, {"output_hidden_states": True, "output_attentions": True}]
)
def test_a_book_is_encoded_in_parts(build, cnm_folder, monkeypatch, settings):
    """The parts are what one large batch gives."""
    nlp = build(cnm_folder, transformer_config=settings)
    nlp.initialize()
    docs = [nlp.make_doc(text) for text in ("重䢖道藏" * 40, "", "王小明", "今天" * 50)]
    model = nlp.get_pipe("transformer").model
    whole = model.predict(docs)
    monkeypatch.setattr(transformer_model, "PIECES_AT_ONCE", 100)
    parts = model.predict(docs)
    assert type(parts.model_output) is type(whole.model_output)
    assert parts.model_output.keys() == whole.model_output.keys()
    for key, value in whole.model_output.items():
        for left, right in zip(value, parts.model_output[key], strict=True):
            assert torch.allclose(left, right, atol=1e-5)
    assert [data.width for data in parts.doc_data if len(data.align.lengths)] == [32] * 3
