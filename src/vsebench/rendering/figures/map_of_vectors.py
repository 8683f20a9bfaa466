"""Draw the vectors of images and labels in one plane.

A panel shows a few labels with their names, and the test images that have exactly one of these labels.
"""

import polars as pl
from pydantic import Field

from vsebench.rendering.kinds import Axes, Figure, FigureKind
from vsebench.rendering.outline import Outline
from vsebench.rendering.results import Results, at

SHOWN = 8  # number of labels per panel; must not exceed the number of colours
NAME_SIZE = (40, 8)  # width and height of a name, in points


class MapOfVectors(FigureKind):
    """A map of images and labels, with one panel for each method on each task with real data."""

    needs = ("map_of_vectors", "datasets")

    methods: list[str] = Field(min_length=1)  # names of methods of the run
    protocol: str

    def applies(self, outline: Outline) -> bool:
        tasks = outline.tasks_with(*self.methods, protocols=[self.protocol])
        return any(task.dataset not in outline.simulated for task in tasks)

    def figure(self, results: Results) -> Figure:
        from vsebench.rendering import drawing, style

        shown = results.analysis("map_of_vectors").filter(pl.col("method").is_in(self.methods), protocol=self.protocol)
        tasks = [task for task in results.tasks_of(shown) if not results.is_simulated(task.dataset)]
        panels = [(task, method) for task in tasks for method in results.methods_of(at(shown, task))]
        figure, axes = drawing.panels(len(panels), style.DOUBLE, 2.6, columns=2)
        for axis, (task, method) in zip(axes, panels, strict=True):
            draw(axis, at(shown, task).filter(method=method))
            axis.set_title(f"{results.short_task_title(task)}\n{results.method_title(method, task, short=True)}")
        return figure

    def caption(self, results: Results) -> str:
        return (
            "Test images (dots) and labels (diamonds with names) in the plane of the images' first two principal "
            f"components, for the first seed. All vectors are scaled to length 1. The figure shows the {SHOWN} most "
            "frequent labels that share few images with one another, and the images with exactly one of these labels. "
            "Instead of principal components, the paper uses t-SNE."
        )

    def alternative(self, results: Results) -> str:
        return "Dots of images in the colour of their label, and the labels' names among them."


def draw(axis: Axes, vectors: pl.DataFrame) -> None:
    """Draw a few labels and the images that have exactly one of them."""
    from matplotlib.patheffects import withStroke

    from vsebench.rendering import style

    images, labels = vectors.filter(~pl.col("is_label")), vectors.filter(pl.col("is_label"))
    chosen = rarely_shared_labels(images["labels"].to_list(), SHOWN)
    points = [labels.filter(name=name).select("x", "y").row(0) for name in chosen]
    for name, (x, y), colour in zip(chosen, points, style.COLOURS, strict=False):
        alone = pl.col("labels").list.set_intersection(chosen) == [name]
        of_label = images.filter(alone)
        axis.plot(of_label["x"], of_label["y"], linestyle="", marker="o", markersize=2.5, color=colour, alpha=0.6)
        axis.plot(x, y, marker="D", markersize=4, color=colour, markeredgecolor="black", markeredgewidth=0.5, zorder=3)
    axis.set(xticks=[], yticks=[])
    halo = [withStroke(linewidth=1.5, foreground="white")]
    line = {"arrowstyle": "-", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
    in_points = axis.transData.transform(points) * 72 / axis.figure.dpi
    for name, point, (side, down) in zip(chosen, points, places_of_names(in_points.tolist()), strict=True):
        axis.annotate(
            name,
            point,
            xytext=(side * (15 if down else 4), 2 - down),
            textcoords="offset points",
            horizontalalignment="left" if side > 0 else "right",
            fontsize=7,
            path_effects=halo,
            arrowprops=line if down else None,
        )


def places_of_names(points: list[tuple[float, float]]) -> list[tuple[int, float]]:
    """Return the place of each point's name as a pair (side, distance).

    The side is 1 (right) or -1 (left). Names of points with an x below the median are on the left, all others on the
    right. The distance, in typographic points, states how far to move the name down so that names on one side do not
    overlap.

    points : x and y of the points, in typographic points; a name has the size `NAME_SIZE`
    """
    width, height = NAME_SIZE
    middle = sorted(x for x, _ in points)[len(points) // 2] if points else 0.0
    placed: dict[int, tuple[int, float, float]] = {}
    for index in sorted(range(len(points)), key=lambda index: -points[index][1]):
        x, y = points[index]
        side = 1 if x >= middle else -1
        for other_side, other_x, other_y in sorted(placed.values(), key=lambda other: -other[2]):
            if side == other_side and abs(x - other_x) < width and abs(y - other_y) < height:
                y = other_y - height
        placed[index] = (side, x, y)
    return [(placed[index][0], points[index][1] - placed[index][2]) for index in range(len(points))]


def rarely_shared_labels(label_sets: list[list[str]], number: int) -> list[str]:
    """Return up to `number` labels that share few images, given the labels of each image.

    Frequent labels are chosen first. A label is skipped if at least half of its images have a label chosen before.
    """
    images: dict[str, set[int]] = {}
    for image, labels in enumerate(label_sets):
        for label in labels:
            images.setdefault(label, set()).add(image)
    chosen: list[str] = []
    for label in sorted(images, key=lambda label: (-len(images[label]), label)):
        covered = set().union(*(images[previous] for previous in chosen)) if chosen else set()
        if len(chosen) < number and 2 * len(images[label] & covered) < len(images[label]):
            chosen.append(label)
    return chosen
