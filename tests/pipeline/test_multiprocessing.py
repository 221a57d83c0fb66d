"""Case 9: `n_process=2` ends, and gives the same results. Each in a process that may time out."""

import pytest
import spacy

TEXTS = ["我在北京见到了王小明", "", "重䢖道藏 和\t䶮", "今天hello 2020年", "上海和香港都有人" * 20]
#: Predicts, forks, and compares; default thread settings.
COMPARE = """
import sys, spacy, torch
def described(docs):
    return [
        (
            [(t.text, t.tag_) for t in doc],
            [(e.start, e.end, e.label_) for e in doc.ents],
            {key: round(value, 4) for key, value in doc.cats.items()},
            None if doc._.trf_data is None else doc._.trf_data.align.lengths.tolist(),
        )
        for doc in docs
    ]
nlp = spacy.load(sys.argv[1])
texts = sys.argv[2:] * 20
threads = torch.get_num_threads()
nlp(texts[0])
expected = described(nlp.pipe(texts))
assert described(nlp.pipe(texts, n_process=2, batch_size=10)) == expected
assert torch.get_num_threads() == threads
assert described(nlp.pipe(texts)) == expected
"""
#: The same after training in the same process.
TRAIN = """
from spacy.training import Example
nlp = spacy.load(sys.argv[1])
doc = nlp.make_doc("我在北京见到了王小明" * 10)
example = Example.from_dict(doc, {"entities": [(2, 4, "LOC")], "tags": ["B-n"] * len(doc)})
optimizer = nlp.resume_training()
for _ in range(2):
    nlp.update([example] * 8, sgd=optimizer)
expected = described(nlp.pipe(texts))
assert described(nlp.pipe(texts, n_process=2, batch_size=10)) == expected
"""


@pytest.mark.parametrize("pipes", [["transformer", "ner", "tagger", "textcat", "cnm_word_merger"]])
def test_case_9_forked_workers(trained_folder, run_python, tmp_path, pipes):
    nlp = spacy.load(trained_folder)
    nlp.add_pipe("cnm_word_merger")
    nlp.to_disk(tmp_path)
    run_python(COMPARE + TRAIN, tmp_path, *TEXTS, timeout=180)


def test_case_9_forked_workers_with_own_encoders(trained_folder, run_python, tmp_path):
    nlp = spacy.load(trained_folder)
    nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
    nlp.to_disk(tmp_path)
    run_python(COMPARE, tmp_path, *TEXTS, timeout=180)
