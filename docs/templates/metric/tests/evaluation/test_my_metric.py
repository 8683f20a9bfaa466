"""my_metric, on an example that is computed by hand."""

import polars as pl

from vsebench.evaluation.metrics.base import metric_class


def test_an_image_with_a_label_among_the_first_counts_as_one():
    """Image 0 has labels at ranks 2 and 5, and image 1 has one at rank 4. Image 2 has only a miss."""
    ranks = pl.DataFrame({"image": [0, 0, 1, 2], "rank": [2, 5, 4, None]})
    metric = metric_class("my_metric")(3)
    values = ranks.group_by("image", maintain_order=True).agg(value=metric.value())
    assert values["value"].to_list() == [1, 0, 0]
