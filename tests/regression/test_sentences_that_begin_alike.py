"""Looking up texts took quadratic time where many sentences begin alike, as news does."""

from spacy_cnm.corpora.overlap import SentenceIndex


def test_work_does_not_grow_with_the_number_of_sentences():
    looked_up = []

    class Lengths(dict):
        def get(self, key, default=None):
            found = super().get(key, default)
            looked_up.append(len(found))
            return found

    index = SentenceIndex()
    for i in range(10_000, 20_000):
        index.add(f"本报北京一月{i}日电甲乙", "x")
    index._lengths = Lengths(index._lengths)
    assert index.find("本报北京一月10000日电丙丁") is None
    assert max(looked_up) <= 1
    assert index.find("又，本报北京一月10000日电甲乙丙") == "x"


def test_the_first_added_of_those_that_begin_alike():
    index = SentenceIndex()
    index.add("本报北京一月三日电甲乙丙", "long")
    index.add("本报北京一月三日电", "short")
    assert index.find("又，本报北京，一月三日电甲乙丙") == "long"
    assert index.find("又，本报北京，一月三日电甲乙") == "short"
    assert index.find("本报北京一月三日电甲乙丙") == "long", "that very sentence"
