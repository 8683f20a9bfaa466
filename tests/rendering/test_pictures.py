"""Pictures on the page: those whose ids a table names, small, and a notice where they are not to be found."""

import base64
import io
import tarfile
from pathlib import Path

import pytest
from PIL import Image

from tests.rendering.conftest import PAPERS, figures
from vsebench.config.dataset import Pictures
from vsebench.rendering.page import page, pictures
from vsebench.rendering.page.pictures import PIXELS, find_pictures, names_in
from vsebench.rendering.results import Results
from vsebench.rendering.table import Cell, Column, Row, Table

COLUMNS = (
    Column("dataset", "Data set", shown=False),
    Column("dataset_name", "Name", shown=False),
    Column("images", "Images", "pictures"),
)


def table(value: str, dataset: str | None = "saiapr") -> Table:
    return Table(COLUMNS, (Row((Cell("A title"), Cell(dataset), Cell(value))),), "Some images")


def png(width: int = 400, height: int = 200, colour: str = "red") -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(written, format="PNG")
    return written.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pictures" / "07").mkdir(parents=True)
    for name in ("12", "07/5"):
        (tmp_path / "pictures" / f"{name}.png").write_bytes(png())
    (tmp_path / "pictures" / "broken.png").write_bytes(b"no picture")
    return tmp_path / "pictures"


def test_a_cell_names_its_images_and_a_published_row_names_none() -> None:
    assert names_in(table("**12**, 07/5, 9")) == [("saiapr", "12"), ("saiapr", "07/5"), ("saiapr", "9")]
    assert names_in(table("12", dataset=None)) == []


@pytest.mark.parametrize("packed", [False, True])
def test_pictures_are_small_and_of_the_named_images_alone(packed: bool, folder: Path, tmp_path: Path) -> None:
    source = folder
    if packed:
        source = tmp_path / "pictures.tar.gz"
        with tarfile.open(source, "w:gz") as archive:
            archive.add(folder, arcname=".")
    found = find_pictures(
        [table("**12**, 9"), table("07/5")], {"saiapr": Pictures(images=str(source), suffixes="drop")}
    )
    assert sorted(found.pictures) == [("saiapr", "07/5"), ("saiapr", "12")]
    assert found.notices == []
    head, _, content = found.pictures["saiapr", "12"].partition(",")
    assert head == "data:image/jpeg;base64"
    with Image.open(io.BytesIO(base64.b64decode(content))) as image:
        assert image.size == (PIXELS, PIXELS // 2)
        red, green, _ = image.getpixel((5, 5))  # type: ignore[misc]
        assert red > 240 > 20 > green


def test_ids_that_fit_no_picture_are_shown_beside_one(folder: Path) -> None:
    found = find_pictures([table("12")], {"saiapr": Pictures(images=str(folder))})
    assert found.pictures == {}
    assert found.notices == [
        "saiapr: no picture has the id of an image (for example, an image has the id '12', and a "
        "picture has the id '07/5.png'); see the "
        "key `pictures`."
    ]


def test_a_picture_that_cannot_be_read_and_a_folder_that_is_gone_are_mentioned(folder: Path) -> None:
    found = find_pictures([table("broken, 12")], {"saiapr": Pictures(images=str(folder), suffixes="drop")})
    assert list(found.pictures) == [("saiapr", "12")]
    assert found.notices == ["saiapr: the picture broken cannot be read."]
    gone = find_pictures([table("12")], {"saiapr": Pictures(images=str(folder / "gone"))})
    assert gone.notices == [f"saiapr: no pictures ({folder / 'gone'}: no such file or folder)."]


def test_a_page_has_a_limited_number_of_pictures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST", 1)
    source = {"saiapr": Pictures(images=str(folder), suffixes="drop")}
    assert list(find_pictures([table("12, 07/5")], source).pictures) == [("saiapr", "12")]


def test_the_page_shows_them_with_what_they_are(
    results: Results, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in figures(results):
        (tmp_path / f"{name}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>", encoding="utf-8")
    monkeypatch.setattr(page, "split_by_testability", lambda results: (table("**12**, 9"), table("")))
    seen = find_pictures([table("12")], {"saiapr": Pictures(images=str(folder), suffixes="drop")})
    monkeypatch.setattr(page, "find_pictures", lambda tables, sources: seen)
    text = page.render(results, tmp_path, PAPERS, tmp_path)
    assert (
        f'<span class="picture right"><img src="{seen.pictures["saiapr", "12"]}" alt="correct: image 12">12</span>'
        in text
    )
