"""The possible unrounded values of printed numbers."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf

Number = Fraction | float  # a float only for an infinite bound
# Bounds are exact, except those that depend on logarithms; these are widened by this number.
SLACK = Fraction(1, 10**12)


@dataclass(frozen=True)
class Interval:
    """All values from `low` to `high`, both included; the bounds are exact, so touching intervals share a value."""

    low: Number
    high: Number

    def __add__(self, other: "Interval | int | Fraction") -> "Interval":
        other = as_interval(other)
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Interval | int | Fraction") -> "Interval":
        other = as_interval(other)
        return Interval(self.low - other.high, self.high - other.low)

    def __mul__(self, other: "Interval | int | Fraction") -> "Interval":
        other = as_interval(other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: "Interval | int | Fraction") -> "Interval":
        other = as_interval(other)
        if other.low <= 0 <= other.high:
            return Interval(-inf, inf)
        ends = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def meets(self, other: "Interval") -> bool:
        """Return whether the two intervals share a value."""
        return self.low <= other.high and other.low <= self.high

    def show(self, decimals: int) -> str:
        """Return the bounds as text.

        >>> Interval(Fraction(1, 8), Fraction(1, 4)).show(3), Interval(-inf, Fraction(5)).show(0)
        ('0.125 to 0.250', 'at most 5')
        """
        low, high = show(self.low, decimals), show(self.high, decimals)
        if self.low == -inf:
            return f"at most {high}" if self.high != inf else "any number"
        if self.high == inf:
            return f"at least {low}"
        return low if low == high else f"{low} to {high}"


def show(value: Number, decimals: int) -> str:
    """Return `value` as text with `decimals` digits after the point, or without decimals if it is an integer.

    >>> show(Fraction(1, 3), 4), show(Fraction(5), 4)
    ('0.3333', '5')
    """
    return f"{float(value):.{0 if isinstance(value, Fraction) and value.denominator == 1 else decimals}f}"


def as_interval(value: Interval | int | Fraction) -> Interval:
    return value if isinstance(value, Interval) else Interval(Fraction(value), Fraction(value))


def exact(value: str) -> Interval:
    """Read a count that is not rounded."""
    return as_interval(Fraction(value))


def rounded(value: str) -> Interval:
    """Read a number that was rounded to its last printed digit; a half may have been rounded up or down.

    >>> rounded("0.430").show(4), rounded("300").show(1)
    ('0.4295 to 0.4305', '299.5 to 300.5')
    """
    return _rounded(Decimal(value))


def roughly(value: str) -> Interval:
    """Read a number from running text, in which the final zeros of an integer may be due to rounding ("10 million").

    >>> roughly("300").show(0), roughly("7.10").show(3)
    ('250 to 350', '7.095 to 7.105')
    """
    number = Decimal(value)
    return _rounded(number.normalize() if "." not in value and number else number)


def decimals(value: str) -> int:
    """Return the number of printed digits after the point.

    >>> decimals("0.430"), decimals("5e-5"), decimals("300")
    (3, 5, 0)
    """
    return max(0, -_exponent(Decimal(value)))


def _rounded(number: Decimal) -> Interval:
    half = Fraction(10) ** _exponent(number) / 2
    return Interval(Fraction(number) - half, Fraction(number) + half)


def _exponent(number: Decimal) -> int:
    return int(number.as_tuple().exponent)
