"""The names of the verdicts on claims, and the level of significance that all tests of claims use."""

from typing import Literal

Verdict = Literal["holds", "fails", "undecided", "not testable here"]
HOLDS: Verdict = "holds"
FAILS: Verdict = "fails"
UNDECIDED: Verdict = "undecided"
UNTESTABLE: Verdict = "not testable here"
VERDICTS = (HOLDS, FAILS, UNDECIDED, UNTESTABLE)
Data = Literal["paper", "other", "simulated"]  # the paper's data sets, other real data sets, simulated data sets
DATA: tuple[Data, ...] = ("paper", "other", "simulated")
SIGNIFICANT = 0.05  # a claim holds or fails, instead of being undecided, if its corrected p-value is below this level
