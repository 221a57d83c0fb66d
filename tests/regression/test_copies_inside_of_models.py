"""A model that held the encoder was copied by thinc as a plain model, without its settings."""

import spacy
from thinc.api import reduce_mean

from spacy_cnm.pipeline.architectures import create_tok2vec_cnm_transformer
from spacy_cnm.pipeline.span_getters import WordpieceSpans
from spacy_cnm.pipeline.transformer_model import CNMTransformerModel


def test_the_encoder_keeps_its_class(cnm_folder):
    model = create_tok2vec_cnm_transformer(str(cnm_folder), WordpieceSpans(8, 8), reduce_mean())
    docs = [spacy.blank("zh")("重䢖道藏")]
    model.initialize(X=docs)
    copied = model.copy()
    encoder = copied.layers[0].layers[0]
    assert type(encoder) is CNMTransformerModel
    assert encoder.attrs["name"] == str(cnm_folder)
    assert (copied.predict(docs)[0] == model.predict(docs)[0]).all()
