"""Public names resolve, from spaCy alone; unknown versions of packages get a clear message."""

import configparser
from pathlib import Path

import pytest
import spacy

SETUP = Path(__file__).parents[2] / "setup.cfg"
RESOLVE = """
import sys
import spacy
assert "spacy_cnm" not in sys.modules
for name in sys.argv[1:]:
    group, _, key = name.partition(":")
    if group == "factories":
        assert spacy.blank("zh").has_factory(key), name
    else:
        assert callable(spacy.registry.get(group, key)), name
"""
#: What an import looks like when spacy-transformers no longer has a name that we use.
OTHER_VERSION = """
import importlib, sys, types
if sys.argv[1]:
    import spacy_transformers.data_classes
    del spacy_transformers.data_classes.HFObjects
else:
    sys.modules["spacy_transformers"] = None
try:
    importlib.import_module("spacy_cnm.pipeline.architectures")
except ValueError as error:
    print(type(error).__name__, error)
"""


def test_every_entry_point_resolves(run_python):
    config = configparser.ConfigParser()
    config.read(SETUP, encoding="utf-8")
    names = []
    for option, lines in config["options.entry_points"].items():
        group = option.removeprefix("spacy_")
        if group != option:
            keys = [line.split("=")[0].strip() for line in lines.strip().splitlines()]
            names += [f"{group}:{key}" for key in keys]
    assert "architectures:spacy_cnm.CNMTransformerModel.v1" in names
    assert "span_getters:spacy_cnm.wordpiece_spans.v1" in names
    run_python(RESOLVE, *names)


def test_a_pipeline_loads_with_spacy_alone(trained_folder, run_python):
    code = "import sys, spacy; print(spacy.load(sys.argv[1])('我在北京').ents)"
    assert run_python(code, trained_folder).strip() == "(北京,)"


@pytest.mark.parametrize(("renamed", "reason"), [("yes", "HFObjects"), ("", "spacy_transformers")])
def test_case_20_unknown_versions_get_a_clear_message(run_python, renamed, reason):
    message = run_python(OTHER_VERSION, renamed)
    assert message.startswith("CNMError")
    assert reason in message
    assert f"spacy {spacy.__version__}" in message
    assert "pip install" in message


def test_unknown_settings_are_refused(build, cnm_folder):
    with pytest.raises(ValueError, match="structure_konfig"):
        build(cnm_folder, structure_konfig={})
