"""The page: every number is that of the JSON, and no text is anything but text."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.report.examples import EXAMPLES, NASTY, empty, nasty, thousand
from tests.report.examples_ordinary import ordinary
from worker.formats import count, found, plain, share, shown, value
from worker.report.contents import Report, as_json
from worker.report.csv import harmless, report_csv
from worker.report.page import page, write_report


class Numbers(HTMLParser):
    """What a page says of each path of the JSON, and the elements that it is made of."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[tuple[str, str, str]] = []  # path, kind, text
        self.tags: list[str] = []
        self._columns: list[tuple[str, str]] = []
        self._row: list[str] | None = None
        self._cell = -1
        self._open: tuple[str, str] | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = {key: told or "" for key, told in attrs}
        if tag in ("td", "th", "tr", "table"):
            self._end()
        if tag == "table":
            self._columns, self._row = [], None
        elif tag == "tr" and "data-row" in named:
            self._row, self._cell = named["data-row"].split(","), -1
        elif tag == "th" and "data-of" in named:
            self._columns.append((named["data-of"], named["data-as"]))
        elif tag in ("td", "th") and self._row is not None:
            self._cell += 1
            path, kind = self._columns[self._cell]
            self._open, self._text = (path.format(*self._row), kind), ""
        elif tag == "span" and "data-of" in named:
            self._open, self._text = (named["data-of"], named["data-as"]), ""
        elif tag == "span" and named.get("class") == "unseen":
            self._end()

    def handle_endtag(self, tag: str) -> None:
        if tag in ("span", "table", "tbody", "thead", "bdi"):
            self._end()

    def handle_data(self, data: str) -> None:
        self._text += data

    def _end(self) -> None:
        if self._open is not None:
            self.said.append((*self._open, self._text))
            self._open = None


def read(text: str) -> Numbers:
    reader = Numbers()
    reader.feed(text)
    return reader


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_number_on_a_page_is_the_one_of_its_json(name: str, tmp_path: Path) -> None:
    path = write_report(EXAMPLES[name](), tmp_path, "report")
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    said = read(path.read_text(encoding="utf-8")).said
    assert len(said) > 20
    for place, kind, text in said:
        expected = shown(found(told, place), kind)
        assert " ".join(text.split()) == " ".join(expected.split()), place


def test_all_groups_are_in_the_tables_however_many_there_are() -> None:
    said = read(page(thousand())).said
    for column in ("mean", "low", "high", "labelled", "right", "size", "p_lowest", "rank"):
        places = {place for place, _, _ in said if re.fullmatch(rf"groups\.\d+\.{column}", place)}
        assert len(places) == 1_000


def test_a_page_of_a_thousand_groups_stays_below_a_megabyte() -> None:
    assert len(page(thousand()).encode()) < 1_000_000


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_page_names_no_other_host_and_no_other_file(name: str) -> None:
    text = page(replace(EXAMPLES[name](), reproduce={}))
    without_script = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert re.findall(r"(?:https?:)?//[\w.]", without_script) == []
    assert set(re.findall(r'(?:src|href)="([^"#][^"]*)"', text)) == {"data:,"}


def test_no_name_becomes_an_element_or_turns_the_text_after_it() -> None:
    text = page(nasty())
    reader = read(text)
    assert reader.tags.count("script") == 1
    assert "<script>alert" not in text
    assert 'onmouseover=alert(1) "' not in text.replace("&#34;", "''").replace("&quot;", "''")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00]", text)
    assert "{{" in text, "braces in a name are text"
    assert "49 }}" not in text


def test_headings_go_down_one_step_at_a_time() -> None:
    levels = [int(tag[1]) for tag in read(page(ordinary())).tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert set(levels[1:]) == {2}


def test_sections_without_content_are_left_out() -> None:
    text = page(empty())
    for name in ("progress", "calibration", "confusion", "pairs", "changes", "annotators"):
        assert f'id="{name}"' not in text
    assert 'id="question"' in text
    assert 'id="reproduce"' in text


def test_every_picture_has_a_table_behind_it() -> None:
    for example in EXAMPLES.values():
        for section in re.findall(r"<section.*?</section>", page(example()), flags=re.S):
            assert ("<svg" in section) <= ("<table" in section)


def test_a_spreadsheet_runs_nothing_of_the_csv(tmp_path: Path) -> None:
    write_report(nasty(), tmp_path, "report")
    written = (tmp_path / "report.csv").read_bytes().decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(written, newline="")))
    of_groups = [row for row in rows if row["part"] == "groups"]
    assert [row["name"].removeprefix("'") for row in of_groups] == [
        name.removeprefix("'") for name in NASTY
    ]
    for row in rows:
        for text in (row["name"], row["second"]):
            assert not text.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\ta", "\ra", " =1"])
def test_what_looks_like_a_formula_gets_a_quote(text: str) -> None:
    assert harmless(text) == "'" + text


def test_the_csv_has_the_numbers_of_the_json_and_leaves_those_of_empty_groups_blank() -> None:
    report = empty()
    rows = [row for row in _rows_of(report) if row["part"] == "groups"]
    told = as_json(report)["groups"]
    more = dict.fromkeys(("second", "below", "within", "above", "region"), "") | {"part": "groups"}
    for row, group in zip(rows, told, strict=True):
        assert {key: "" if one is None else str(one) for key, one in group.items()} | more == row


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_csv_has_every_interval_and_every_pair_of_the_page(name: str) -> None:
    report = EXAMPLES[name]()
    told, rows, read = as_json(report), _rows_of(report), Numbers()
    read.feed(page(report))
    for end in ("low", "high"):
        kept = {text for row in rows for key, text in row.items() if key.endswith(end)}
        for path, _, _ in read.said:
            if any(key.endswith(end) for key in path.split(".")):
                number = found(told, path)
                assert number is None or str(number) in kept, path
    pairs = [(row["name"], row["second"]) for row in rows if row["part"] == "pairs"]
    assert pairs == [(harmless(one.first), harmless(one.second)) for one in report.pairs]


def _rows_of(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(report_csv(report), newline="")))


def test_a_report_is_written_again_with_the_same_bytes(tmp_path: Path) -> None:
    write_report(ordinary(), tmp_path / "a", "report")
    write_report(ordinary(), tmp_path / "b", "report")
    for name in ("report.html", "report.json", "report.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert {path.name for path in (tmp_path / "a").iterdir()} == {
        "report.html", "report.json", "report.csv",
    }  # fmt: skip


def test_a_share_is_never_rounded_to_certainty() -> None:
    assert share(0.00001) == "<0.1%"
    assert share(0.99999) == ">99.9%"
    assert (share(0), share(1), share(0.5)) == ("0.0%", "100.0%", "50.0%")


def test_values_have_three_digits_and_a_real_minus() -> None:
    assert value(0.12345) == "0.123"
    assert value(-0.5) == "−0.500"
    assert value(-0.00001) == "0.000"
    assert value(1234.5) == "1,234"
    assert count(-3) == "−3"


def test_marks_that_turn_the_text_are_made_visible() -> None:
    assert plain("a\u202eb") == "a\ufffdb"
    assert plain("مرحبا 🦎") == "مرحبا 🦎"


def test_a_command_within_what_is_said_of_the_labels_is_code() -> None:
    report = EXAMPLES["labels"]()
    assert report.source is not None
    source = replace(report.source, text=("Then `assay simulate <a>` tells that.",))
    text = page(replace(report, source=source))
    assert "Then <code>assay simulate &lt;a&gt;</code> tells that.</p>" in text
