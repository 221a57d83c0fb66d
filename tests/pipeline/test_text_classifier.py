"""Documents without a category teach a `cnm_textcat` nothing about categories."""

import pytest
import spacy
from spacy.training import Example


def make_examples(nlp, texts):
    for text, label in texts:
        reference = nlp.make_doc(text)
        if label:
            reference.cats = {name: float(name == label) for name in ("good", "bad")}
        yield Example(nlp.make_doc(text), reference)


TEXTS = [("这本书很好", "good"), ("这本书不好", "bad")]


@pytest.mark.parametrize("factory", ["cnm_textcat", "textcat"])
def test_missing_is_not_negative(factory):
    nlp = spacy.blank("zh")
    textcat = nlp.add_pipe(factory)
    nlp.initialize(lambda: make_examples(nlp, TEXTS))
    known = list(make_examples(nlp, TEXTS))
    mixed = [*known, *make_examples(nlp, [("今天新闻", None)])]
    scores = textcat.model.predict([example.predicted for example in mixed])
    _, gradient = textcat.get_loss(mixed, scores)
    # The stock component pulls all scores of the news down: the fault that ours is made for.
    assert gradient[2].any() == (factory == "textcat")
    assert (gradient[:2] == textcat.get_loss(known, scores[:2])[1]).all()


def test_it_learns_saves_and_loads(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("cnm_textcat", name="textcat")
    examples = list(make_examples(nlp, [*TEXTS, ("今天新闻", None)]))
    optimizer = nlp.initialize(lambda: iter(examples))
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    scores = nlp.evaluate(list(make_examples(nlp, [*TEXTS, ("今天新闻", None)])))
    assert scores["cats_acc"] == 1.0
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert again("这本书很好").cats == nlp("这本书很好").cats

    # An empty document has the same scores in a batch as alone.
    batch = list(again.pipe(["这本书很好", "", "这本书不好"]))
    assert batch[1].cats == again("").cats == {"good": 0.0, "bad": 0.0}
    assert batch[0].cats == pytest.approx(nlp("这本书很好").cats)
