"""A second error of one code would silently take the place of the first."""

import ast
from collections import Counter
from pathlib import Path

import spacy_cnm.errors


def test_every_code_is_given_once():
    tree = ast.parse(Path(spacy_cnm.errors.__file__).read_text("utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    codes = Counter(
        target.id
        for node in classes
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    )
    assert len(codes) > 100
    assert [code for code, times in codes.items() if times > 1] == []
