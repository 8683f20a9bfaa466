"""A check of LaTeX tables that needs no LaTeX."""

import re

TEXT = r"l|>\{\\raggedright\\arraybackslash\}p\{[\d.]+\\linewidth\}"
COLUMN = re.compile(rf"{TEXT}|S\[table-format=-?\d+\.\d+\]")
TABULAR = re.compile(r"\\begin\{tabular\}\{@\{\}([^\n]+)@\{\}\}\n(.*?)\\end\{tabular\}", re.DOTALL)


def check_latex(text: str) -> None:
    """Check that braces and environments match, and that every row has a cell for each column of its table."""
    bare = re.sub(r"\\[\\{}&%$#_]", "", text)
    assert bare.count("{") == bare.count("}")
    opened: list[str] = []
    for verb, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", text):
        if verb == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    for alignment, body in TABULAR.findall(text):
        columns = COLUMN.findall(alignment)
        assert "".join(columns) == alignment
        for line in body.splitlines():
            if "\\\\" in line and "\\multicolumn" not in line:
                assert line.replace("\\&", "").count("&") == len(columns) - 1, line
