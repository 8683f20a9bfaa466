"""Sampled cross-entropy with trained word vectors, as in the authors' code.

The network takes Adam's steps on the loss of `s_x_ent`. The vectors of the drawn labels take plain gradient steps with
the same learning rate, image by image, which are not divided by the numbers of draws and images: with P = 5, N = 10 and
batches of 128 images they are 640 times (positives) and 1,280 times (negatives) as long as steps on that loss. A label
that was drawn twice for an image moves once, and vectors do not decay. So the network and the vectors minimise
different losses.

The authors' code also draws batches with replacement, counts test images in the negatives' frequencies, and treats an
image without labels as if it had the last label; this method does none of that.

Source: the code of Ni and others, "Sampled image tagging and retrieval methods on user generated content"
(Lab41/attalos).
"""

from typing import Literal

from vsebench.data.problem import Matrix
from vsebench.kernels.losses.sampled_words import WordTable, published_steps, sampled_loss
from vsebench.methods.networks.training import Images, NetworkSettings, network_with
from vsebench.methods.words.label_tables import JointSettings
from vsebench.methods.words.s_x_ent import SXEnt
from vsebench.methods.words.sampled_words import SampleSettings
from vsebench.methods.words.word_vectors import WordSettings


class SOptXEntPublishedSettings(SampleSettings, JointSettings, NetworkSettings, WordSettings):
    """Settings of sampled cross-entropy as in the authors' code."""

    joint: Literal[True] = True
    # `mean`: positives together weigh as much as negatives, w = 1. `sum`: every draw weighs the same, w = N / P.
    weights: Literal["mean", "sum"] = "mean"


class SOptXEntPublished(SXEnt):
    """The binary cross-entropy of a sample of labels, with undivided steps for their vectors."""

    settings_type = SOptXEntPublishedSettings

    def prepare(self) -> None:
        self.table.word_vectors = WordTable.of(self.table.trained())  # without Adam's running means

    def __call__(self, outputs: Matrix, images: Images) -> float:
        settings, word_vectors, chosen = self.settings, self.table.word_vectors, self.table.draw(images)
        vectors_of_images = outputs.copy()
        total, _ = sampled_loss(outputs, chosen, settings.positives, self.weight, False, word_vectors)
        published_steps(word_vectors.vectors, vectors_of_images, chosen, settings.positives, settings.learning_rate)
        return float(total)


METHOD = network_with(SOptXEntPublished)
