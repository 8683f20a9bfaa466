"""Fast0Tag over a sample of labels: the logistic loss of all pairs of a drawn positive and a drawn negative.

    L_i = 1 / (P N) sum over P drawn positives p and N drawn negatives n of log(1 + exp(s_in - s_ip))

Free scores end at s_a - s_b = log(q_a / p_n(a)) - log(q_b / p_n(b)), with q_l the chance that a drawn positive of an
image is l and p_n(l) that of a drawn negative: the lift that `s_x_ent` ends at, up to a number of the image.

Source: Ni and others, "Sampled image tagging and retrieval methods on user generated content", Eq. 3: S+Fast0Tag.
Training the vectors too (`joint`) is ours.
"""

from vsebench.methods.words.sampled_words import SampledWordMethod


class SFast0Tag(SampledWordMethod):
    """A network with the logistic loss of the pairs of a sample of labels."""

    pairwise = True


METHOD = SFast0Tag
