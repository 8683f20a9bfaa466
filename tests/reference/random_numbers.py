"""SplitMix64 and the draws of the kernels, in Python integers."""

MASK = (1 << 64) - 1


class SplitMix64:
    def __init__(self, state):
        self.state = int(state)

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return ((self.word() >> 32) * n) >> 32

    def uniform(self):
        return (self.word() >> 11) * 2.0**-53
