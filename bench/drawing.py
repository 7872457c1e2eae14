"""The plots of the measurements, as SVG that is the same for the same figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.figures import Line

_SALT = "headwater"


def growth(nodes: Sequence[int], series: Mapping[str, tuple[Sequence[float], Line]], path: Path) -> None:
    """Draw each series over the nodes of a plan, with the line through it; the keys label the axes."""
    figure, axes = _figure(len(series))
    for place, (label, (values, fitted)) in zip(axes, series.items(), strict=True):
        place.scatter(nodes, values, s=14)
        place.plot([0, max(nodes)], [fitted.start, fitted.start + fitted.slope * max(nodes)], linewidth=1)
        place.set(xlabel="nodes of the plan", ylabel=label, title=f"R² = {fitted.r_squared:.4f}")
        place.grid(alpha=0.3)
    _save(figure, path)


def soak(done: Sequence[int], memory: Mapping[str, Sequence[float]], taken: Sequence[float], path: Path) -> None:
    """Megabytes of each kind of memory, and milliseconds of a query, over the number of queries done."""
    figure, (left, right) = _figure(2)
    for label, megabytes in memory.items():
        left.plot(done, megabytes, label=label)
    left.set(xlabel="queries", ylabel="MB", ylim=(0, None))
    left.legend()
    right.plot(done, taken)
    right.set(xlabel="queries", ylabel="median ms per query", ylim=(0, None))
    _save(figure, path)


def costs(found: Mapping[str, tuple[float, Mapping[str, float]]], goal: float, path: Path) -> None:
    """For each statement headwater's threads as parts of the jar's CPU, which is 1, and the goal as a line."""
    figure, (place,) = _figure(1)
    titles = list(found)
    done = [0.0] * len(titles)
    for part in next(iter(found.values()))[1]:
        shares = [parts[part] / jar for jar, parts in found.values()]
        place.barh(titles, shares, left=done, height=0.5, label=f"headwater: {part}")
        done = [before + share for before, share in zip(done, shares, strict=True)]
    place.axvline(1, color="black", linewidth=2, label="openlineage-spark")
    place.axvline(goal, color="black", linewidth=1, linestyle="--", label=f"goal: {goal}")
    place.set(xlabel="CPU of one query, openlineage-spark = 1", xlim=(0, 1.05))
    place.invert_yaxis()
    place.grid(alpha=0.3, axis="x")
    place.legend(loc="center right")
    _save(figure, path)


def frames(found: Mapping[str, Mapping[str, tuple[float, float]]], goal: float, path: Path) -> None:
    """For each movement the 95th percentile and the longest of its frames in ms, for each library, and the goal."""
    figure, (place,) = _figure(1)
    height = 0.8 / len(found)
    for number, (library, movements) in enumerate(found.items()):
        rows = [row + number * height for row in range(len(movements))]
        usual, longest = zip(*movements.values(), strict=True)
        bars = place.barh(rows, usual, height=height * 0.9, label=f"{library}: p95")
        color = bars.patches[0].get_facecolor()
        place.plot(longest, rows, "D", markersize=4, color=color, markeredgecolor="black", label=f"{library}: longest")
        place.set_yticks([row + 0.4 - height / 2 for row in range(len(movements))], list(movements))
    place.axvline(goal, color="black", linewidth=1, linestyle="--", label=f"goal: {goal:g} ms")
    place.set(xlabel="ms for a frame", xscale="log", xlim=(10, None))
    place.xaxis.set_major_formatter("{x:g}")
    place.invert_yaxis()
    place.grid(alpha=0.3, axis="x")
    place.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    _save(figure, path)


def over_edges(
    plots: Mapping[str, Mapping[str, tuple[Sequence[int], Sequence[float]]]],
    path: Path,
    *,
    logarithmic: bool = True,
    where: str = "edges in the store",
) -> None:
    """A plot for each kind of figure, with a line for each series over the number of edges somewhere."""
    figure, axes = _figure(len(plots))
    for place, (label, series) in zip(axes, plots.items(), strict=True):
        for name, (edges, values) in series.items():
            place.plot(edges, values, marker="o", markersize=3, linewidth=1, label=name)
        place.set(xlabel=where, ylabel=label, xscale="log")
        place.set(yscale="log") if logarithmic else place.set(ylim=(0, None))
        place.grid(alpha=0.3)
        place.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=2)
    _save(figure, path)


def _figure(plots: int) -> Any:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": _SALT, "font.size": 9})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, plots, figsize=(9, 3.2), layout="constrained", squeeze=False)
    return figure, axes[0]


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
