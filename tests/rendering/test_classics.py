"""The table of the classics: printed shares in percent, and printed numbers of labels as counts."""

from tests.rendering.conftest import table_kind, values
from vsebench.rendering.results import Results


def test_printed_numbers_of_labels_are_shown_as_numbers(results: Results) -> None:
    table = table_kind(results, "classics_table1").table(results)
    forms = {column.key: column.form for column in table.columns}
    assert (forms["n_plus@5"], forms["macro_f1_of_means@5"]) == ("count", "percent")
    first = values(table, "method").index("CCA-KNN")
    assert values(table, "n_plus@5")[first] == 201
    assert values(table, "macro_f1_of_means@5")[first] == 0.465
