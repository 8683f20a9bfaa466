"""The words of verdicts on claims, and the level that decides them."""

from typing import Literal

Verdict = Literal["holds", "fails", "undecided", "not testable here"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "fails"
UNDECIDED: Verdict = "undecided"
UNTESTABLE: Verdict = "not testable here"
VERDICTS = (HOLDS, FAILS, UNDECIDED, UNTESTABLE)
Data = Literal["paper", "other", "simulated"]  # the paper's own data sets, real ones that it did not use, or drawn ones
DATA: tuple[Data, ...] = ("paper", "other", "simulated")
SIGNIFICANT = 0.05  # a corrected p-value below it decides
