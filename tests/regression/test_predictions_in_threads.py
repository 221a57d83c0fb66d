"""A prediction that ended set dropout on in those that other threads were making."""

from concurrent.futures import ThreadPoolExecutor

import spacy

from spacy_cnm.pipeline.architectures import create_cnm_transformer
from spacy_cnm.pipeline.span_getters import WordpieceSpans


def test_threads_do_not_disturb_each_other(cnm_folder):
    model = create_cnm_transformer(str(cnm_folder), WordpieceSpans(30, 20))
    model.initialize()
    nlp = spacy.blank("zh")
    docs = [nlp("重䢖道藏" * n) for n in (1, 40)] * 20
    expected = [model.predict([doc]).model_output[0] for doc in docs[:2]] * 20
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda doc: model.predict([doc]).model_output[0], docs))
    assert all(left.equal(right) for left, right in zip(expected, found, strict=True))
    assert not model.transformer.training
