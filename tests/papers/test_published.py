"""The published numbers: format, size, and cells typed a second time from the papers."""

import re
from pathlib import Path

import polars as pl
import pytest

FOLDER = Path(__file__).parents[2] / "config" / "papers"
COLUMNS = ["paper", "table", "row", "column", "value", "unit", "protocol", "note"]
# paper, table, row, column, value, unit; the accuracies of the two VSE papers are tested below.
TYPED_AGAIN = """
vse_ens table1 openimages images 112247 count
vse_ens table1 nuswide labels 5108 count
vse_ens table1 iapr train_pairs 79527 count
vse_ens table1 nuswide test_pairs 267642 count
vse_ens table3 warp time_complexity O(Tk) formula
vse_ens table4 openimages/warp training_time 35.65 hours
vse_ens table4 iapr/opt_auc training_time 1.82 hours
vse_ens text nuswide/warp/accelerate speedup 2.06 times
vse_ens text iapr/warp trials 1600 count
vse_fs table1 iapr non_positive_labels_per_image 271 count
vse_fs table1 openimages non_positives_per_positive 934 times
vse_fs table2 warp time_complexity O(TK|D|) formula
vse_fs table3 openimages/vse_fs iteration_time 6.14 minutes
vse_fs table3 nuswide/vse_ens iteration_time 447.49 seconds
vse_fs table3 openimages/warp/accelerate speedup 32.24 times
vse_fs table3 iapr/opt_auc/accelerate speedup 3.68 times
vse_fs text nuswide/vse_fs alpha 0.85 1
vse_fs text openimages train_pairs 10052007 count
wsabie table1 webdata validation_images 3287280 count
wsabie table2 imagenet/approx_knn map 2.32 percent
wsabie table2 webdata/wsabie sibling_precision@10 9.84 percent
wsabie table4 imagenet/wsabie_500 precision@10 1.44 percent
wsabie table5 imagenet/linear_warp precision@1 4.25 percent
wsabie table5 webdata/embedding_auc precision@10 0.13 percent
wsabie table6 webdata/knn test_time 3913 days
wsabie table6 imagenet/wsabie memory 12 MB
wsabie table6 imagenet/approx_knn test_time variable text
wsabie table7 imagenet/wsabie_100_200_300 map 11.23 percent
wsabie text imagenet/knn precision@1 4.5 percent
wsabie text wsabie start_deviation 1/sqrt(d) formula
wsabie text imagenet/approx_knn_leaf_2500 leaf_images 2500 count
sampled_tagging table1 nuswide_925/fast0tag epoch_time 43.6 seconds
sampled_tagging table1 iapr images 17665 count
sampled_tagging table2 nuswide_925_to_81/s_opt_x_ent recall@5 44.6 percent
sampled_tagging table2 yfcc100m_to_espgame/s_opt_x_ent f1@5 17.9 percent
sampled_tagging table2 visual_genome_to_espgame/x_ent precision@5 14.1 percent
sampled_tagging table3 iapr/fasttag precision@5 47 percent
sampled_tagging table3 espgame/s_opt_x_ent recall@5 39 percent
sampled_tagging supplement_table1 mscoco/avg_wv f1@5 44.0 percent
sampled_tagging supplement_table2 visual_genome/densecap_objects recall@5 14.9 percent
sampled_tagging text yfcc100m labels 432213 count
lsep table1 nuswide_81/lsep pc_precision 66.7 percent
lsep table1 mscoco/cnn_rnn ov_recall 66.4 percent
lsep table1 voc2007/bp_mll_threshold exact_match 42.5 percent
lsep table1 voc2007/cnn_rnn macro_f1 - text
lsep table2 nuswide_81/lsep_threshold macro_f1 55.0 percent
lsep table2 voc2007/lsep_label_count exact_match 66.3 percent
lsep text mscoco train_images 82081 count
lsep text lsep pairs_per_image 1000 count
lsep text ranking margin 1.0 1
xmc table1 delicious images_per_label 311.61 count
xmc table2 bibtex/wsabie psp@5 49.30 percent
xmc table2 delicious/parabel psp@3 34.00 percent
xmc table2 bibtex/dismec psp@1 - text
xmc table6 bibtex/wsabie precision@1 54.78 percent
xmc table6 bibtex/proxml precision@3 39.0 percent
xmc table6 delicious/fastxml precision@1 69.61 percent
xmc table6 delicious/wsabie precision@5 53.64 percent
xmc table1 eurlex4k labels 3993 count
xmc table2 mediamill/pd_sparse psp@1 62.23 percent
xmc table6 mediamill/wsabie precision@1 81.29 percent
xmc table6 eurlex4k/wsabie precision@3 55.11 percent
"""
PAPERS = sorted(path.stem for path in FOLDER.glob("*.csv"))
README = (FOLDER / "README.md").read_text()


@pytest.fixture(scope="module")
def published():
    return {path.stem: pl.read_csv(path, infer_schema=False) for path in FOLDER.glob("*.csv")}


def test_every_paper_has_its_two_files():
    assert sorted(path.stem for path in FOLDER.glob("*.yaml")) == PAPERS


@pytest.mark.parametrize("paper", PAPERS)
def test_every_line_is_complete_and_names_one_cell(published, paper):
    cells = published[paper]
    assert cells.columns == COLUMNS
    assert set(cells["paper"]) == {paper}
    assert len(cells) > 0
    assert cells.drop("note").null_count().sum_horizontal().item() == 0
    assert cells.select("paper", "table", "row", "column").is_unique().all()


@pytest.mark.parametrize("paper", PAPERS)
def test_units_and_protocols_are_explained(published, paper):
    words = {*published[paper]["unit"], *published[paper]["protocol"]}
    assert not [word for word in words if f"`{word}`" not in README]


@pytest.mark.parametrize("paper", PAPERS)
def test_values_are_plain_numbers(published, paper):
    numbers = published[paper].filter(~pl.col("unit").is_in(["formula", "text"]))["value"]
    assert not [value for value in numbers if not re.fullmatch(r"\d+(\.\d+)?(e-\d+)?", value)]
    assert numbers.cast(pl.Float64).is_finite().all()


def test_the_tables_that_the_readme_lists_have_all_their_cells_in_the_printed_order(published):
    listed = re.findall(r"^\| (\w*) ?\| (\w+) \| .+ \| (\d+) \|$", README, re.MULTILINE)
    cells, paper = {}, ""
    for name, table, number in listed:
        paper = name or paper
        cells.setdefault(paper, {})[table] = int(number)
    assert cells
    for paper, numbers in cells.items():
        tables = published[paper]["table"].to_list()
        assert list(dict.fromkeys(tables)) == list(numbers)
        assert {table: tables.count(table) for table in numbers} == numbers


@pytest.mark.parametrize("line", TYPED_AGAIN.strip().splitlines())
def test_cells_typed_again(published, line):
    paper, table, row, column, value, unit = line.split()
    cell = published[paper].filter(table=table, row=row, column=column)
    assert cell.select("value", "unit").rows() == [(value, unit)]


@pytest.mark.parametrize("paper", ["vse_ens", "vse_fs"])
def test_improvements_follow_from_the_accuracies(published, paper):
    """Every accuracy of the two VSE papers is confirmed by its improvement."""
    cells = {
        (row, column): float(value)
        for row, column, value in published[paper]
        .filter(pl.col("column").str.contains("@") & (pl.col("table") != "text"))
        .select("row", "column", "value")
        .rows()
    }
    improvements = [cell for cell in cells if cell[0].endswith("/improve")]
    assert len(improvements) == {"vse_ens": 18, "vse_fs": 84}[paper]
    for row, metric in improvements:
        dataset, baseline, _ = row.split("/")
        ratio = cells[f"{dataset}/{paper}", metric] / cells[f"{dataset}/{baseline}", metric]
        assert 100 * (ratio - 1) == pytest.approx(cells[row, metric], abs=0.011), row
