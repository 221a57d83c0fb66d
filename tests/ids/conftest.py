"""Small hand-written files in both formats."""

import pytest

BABELSTONE = {
    "一": "^一$(G)",
    "丨": "^丨$(G)",
    "二": "^⿱一一$(G)\t*U+4E8C≠U+2011E",
    "亠": "^⿱丶一$(GHTKP)\t^⿱丨一$(J[K])",
    "十": "^⿻一丨$(GHTJKPV)",
    "口": "^口$(GHTJKPV)",
    "日": "^日$(G)",
    "木": "^木$(G)",
    "立": "^⿱亠䒑$(GHTJKPV)\t^⿱丶𰀆$(X)",
    "言": "^⿳亠二口$(GHTJKPV)",
    "辛": "^⿱立十$(GHTJKPV)\t^⿱亠𢆉$(X)",
    "辯": "^⿲辛言辛$(GHTJKP)",
    "杲": "^⿱日木$(GHTJKP)",
    "杳": "^⿱木日$(GHTJKP)",
    "在": "^⿸{57}土$(GHTJKPV)",
    "荏": "^⿱艹在$(X)",
    "三": "^？$(G)",
}


def babelstone(rows: dict[str, str], total: int | None = None, end: str = "# END") -> str:
    """Text of a file in BabelStone's format."""
    header = [
        "\ufeff# Ideographic Description Sequences (IDS) for CJK Unified Ideographs",
        f"# Total entries: {len(rows) if total is None else total:,}",
        "# File Date: 2024-02-29",
        "#\t{20}\tright of 執 (F5EE )\t丸",
        "#\t{39}\tleft of 卬 (F2C7 )\t⿰丨丿",
        "#\t{58}\ttop left of 留 (F2CD )\t⿰{39}丶",
        "#\t{36}\ttop of 𠢘㥑 (F2C4 )\t",
        "#\t{63}\t",
        "#\t{57}\toutside of 在 (F2CE )\t？",
    ]
    body = [f"U+{ord(char):04X}\t{char}\t{rest}" for char, rest in rows.items()]
    return "\r\n".join([*header, *body, end])


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file; returns its path."""

    def write(content: str | bytes, name: str = "IDS.TXT"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


@pytest.fixture
def small(write):
    """A small sound file in BabelStone's format."""
    return write(babelstone(BABELSTONE))
