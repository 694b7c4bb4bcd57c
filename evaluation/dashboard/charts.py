"""A series as an SVG line: presentation attributes only, so that it works under the page's policy.

Every point is in the table beside it; the picture is for the eye.
"""

from html import escape

from django.utils.safestring import SafeString, mark_safe

from .weekly import Series

_WIDTH, _HEIGHT = 360, 120
_LEFT, _RIGHT, _TOP, _BOTTOM = 6, 6, 10, 18


def line_chart(series: Series) -> SafeString:
    known = [point.value for point in series.points if point.value is not None]
    goals = [
        (name, value)
        for name, value in (
            ("baseline", series.goal and series.goal.baseline),
            ("target", series.goal and series.goal.target),
        )
        if value is not None
    ]
    top = 1.0 if series.definition.is_share else max([*known, *(v for _, v in goals), 1.0])

    def x(index: int) -> float:
        span = max(1, len(series.points) - 1)
        return round(_LEFT + index * (_WIDTH - _LEFT - _RIGHT) / span, 1)

    def y(value: float) -> float:
        return round(_TOP + (1 - min(value, top) / top) * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [
        f'<line x1="{_LEFT}" y1="{y(0)}" x2="{_WIDTH - _RIGHT}" y2="{y(0)}" class="axis"/>',
    ]
    for name, value in goals:
        parts.append(
            f'<line x1="{_LEFT}" y1="{y(value)}" x2="{_WIDTH - _RIGHT}" y2="{y(value)}" class="{name}"/>'
        )
    run: list[str] = []
    for index, point in enumerate(series.points):
        if point.value is None:
            parts += _line(run)
            run = []
            continue
        run.append(f"{x(index)},{y(point.value)}")
        parts.append(f'<circle cx="{x(index)}" cy="{y(point.value)}" r="3" class="point"/>')
    parts += _line(run)
    first, last = series.points[0].monday, series.points[-1].monday
    parts += [
        f'<text x="{_LEFT}" y="{_HEIGHT - 4}" class="tick">{first:%d %b}</text>',
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 4}" text-anchor="end" class="tick">{last:%d %b}</text>',
    ]
    title = escape(f"{series.definition.label}, {first:%d %B %Y} to {last:%d %B %Y}")
    drawn = (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}">'
        f"{''.join(parts)}</svg>"
    )
    return mark_safe(drawn)  # noqa: S308 numbers, dates and labels of ours


def _line(run: list[str]) -> list[str]:
    return (
        [f'<polyline points="{" ".join(run)}" class="line" fill="none"/>'] if len(run) > 1 else []
    )
