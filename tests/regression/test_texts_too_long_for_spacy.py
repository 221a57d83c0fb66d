"""A sentence above spaCy's limit ended the conversion of a corpus with a traceback."""

import spacy

from spacy_cnm.corpora.ner import convert_ner
from spacy_cnm.corpora.records import MAX_LENGTH, Reason


def test_it_is_counted_as_unusable(tmp_path):
    assert spacy.blank("zh").max_length == MAX_LENGTH
    source = tmp_path / "in.bio"
    source.write_text("王\tB-PER\n\n" + "人\tO\n" * (MAX_LENGTH + 1), encoding="utf-8")
    report, (summary,) = convert_ner(source, tmp_path / "out.spacy", max_bad=0.5)
    assert report.dropped == {Reason.TOO_LONG: 1}
    assert summary.docs == 1
