"""Each row of an over-long span was aligned to the whole span: quadratic, minutes for a book."""

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_cnm.modeling import extend_tokenizer
from spacy_cnm.pipeline.wordpieces import tokenize_spans


def test_rows_only_look_at_their_own_tokens(base_tokenizer):
    tokenizer = extend_tokenizer(base_tokenizer)
    tokenizer.model_max_length = 64
    words = [chr(0x4E00 + i % 20_000) for i in range(40_000)]
    doc = Doc(Vocab(), words=words, spaces=[False] * len(words))
    (rows,), batch, align = tokenize_spans([[doc[:]]], tokenizer)
    assert len(batch) == len(rows) == -(-len(words) // 62)
    assert align.lengths.tolist() == [1] * len(words)
    assert sum(len(row) for row in rows) == len(words)
