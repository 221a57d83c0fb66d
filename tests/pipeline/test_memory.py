"""Case 18: memory stays flat over a long stream, and the tensors can be dropped."""

import pytest
import spacy

#: Memory between 5,000 and 20,000 documents may grow by so much, in MiB.
BOUND = 10
STREAM = """
import os, sys, spacy, torch
torch.set_num_threads(1)
nlp = spacy.load(sys.argv[1])
nlp.add_pipe("doc_cleaner")
texts = [f"我在北京{chr(0x4E00 + i % 4000)}见到了王小明" for i in range(20_000)]
def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
for i, doc in enumerate(nlp.pipe(texts, batch_size=256), start=1):
    if i in (5_000, 20_000):
        print(used())
"""


@pytest.mark.slow
def test_case_18_memory_is_flat(trained_folder, run_python):
    start, end = map(float, run_python(STREAM, trained_folder, timeout=300).split())
    assert end - start < BOUND


def test_case_18_one_setting_drops_the_tensors(trained_folder):
    nlp = spacy.load(trained_folder)
    nlp.add_pipe("doc_cleaner", config={"attrs": {"_.trf_data": None}})
    doc = nlp("我在北京见到了王小明")
    assert doc._.trf_data is None
    assert [ent.text for ent in doc.ents] == ["北京", "王小明"]


def test_case_18_memory_zone(trained_folder, described):
    nlp = spacy.load(trained_folder)
    text = "我在北京见到了王小明䶮"
    expected = described(nlp(text))
    for _ in range(2):
        with nlp.memory_zone():
            assert described(nlp(text)) == expected
