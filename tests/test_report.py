import pandas as pd
import pytest

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.base.report import progress_bar, report, report_table, show_source


def test_a_report_prints_number_and_band_and_raises_outside(capsys):
    report("held-out BLEU", 93.42, 88, 100)
    report("step", 0.0123, unit=" s", digits=3)
    report("loss", 0.2, high=0.5)
    assert capsys.readouterr().out.splitlines() == [
        "held-out BLEU ≈ 93.4 (expected 88 to 100)",
        "step ≈ 0.012 s",
        "loss ≈ 0.2 (expected at most 0.5)",
    ]
    for value in (87.9, 100.1, float("nan")):
        with pytest.raises(AssertionError, match=r"held-out BLEU ≈ .*expected 88 to 100"):
            report("held-out BLEU", value, 88, 100)


def test_a_table_is_reported_column_by_column(capsys):
    frame = pd.DataFrame(
        {"model": ["gru", "transformer"], "BLEU": [71.25, 93.4], "parameters": [10, 20]}
    )
    report_table(frame, {"BLEU": (60, 100)})
    out = capsys.readouterr().out
    assert "≈    71.2" in out
    assert "BLEU: expected 60 to 100" in out
    assert "20" in out
    with pytest.raises(AssertionError, match="BLEU outside 80 to 100"):
        report_table(frame, {"BLEU": (80, 100)})


def test_source_is_shown_as_it_stands_in_the_library(capsys):
    show_source(MultiHeadAttention.keys_values)
    out = capsys.readouterr().out
    assert out.lstrip().startswith("def keys_values(")
    assert "self._split(self.k_proj, key)" in out


@pytest.mark.parametrize(
    ("variable", "show", "hidden"), [("1", True, True), ("", True, False), ("", False, True)]
)
def test_a_progress_bar_is_hidden_where_it_would_be_stored(monkeypatch, variable, show, hidden):
    monkeypatch.setenv("TQDM_DISABLE", variable)
    bar = progress_bar(range(3), show=show)
    assert bar.disable == hidden
    assert list(bar) == [0, 1, 2]
