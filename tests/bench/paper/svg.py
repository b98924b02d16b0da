"""Line plots as SVG, by hand: no plotting library for a dozen curves."""

import math
from collections.abc import Mapping, Sequence
from html import escape

COLOURS = ("#1f5fa8", "#c0392b", "#2e8b57", "#8e5aa8", "#b8860b", "#444444")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 320, 56, 24, 30, 64
Points = Sequence[Sequence[float]]


def line_plot(
    title: str,
    curves: Mapping[str, Points],
    x_name: str,
    y_name: str,
    log_x: bool = False,
    y_range: tuple[float, float] | None = None,
) -> str:
    """An SVG of one line a name through its (x, y) points."""
    every = [point for points in curves.values() for point in points]
    place = math.log10 if log_x else float
    xs = [place(x) for x, _ in every]
    low, high = y_range or (min(0.0, *(y for _, y in every)), max(y for _, y in every))
    x_low, x_high = min(xs), max(xs)

    def at(x: float, y: float) -> str:
        right = LEFT + (place(x) - x_low) / ((x_high - x_low) or 1) * (WIDTH - LEFT - RIGHT)
        y = min(max(y, low), high)
        up = HEIGHT - BOTTOM - (y - low) / ((high - low) or 1) * (HEIGHT - TOP - BOTTOM)
        return f"{right:.1f},{up:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="13">{escape(title)}</text>',
    ]
    for i in range(5):
        y = low + (high - low) * i / 4
        x = x_low + (x_high - x_low) * i / 4
        up = at(1.0, y).split(",")[1]
        across = LEFT + i / 4 * (WIDTH - LEFT - RIGHT)
        shown = 10**x if log_x else x
        parts.append(
            f'<path d="M{LEFT} {up}H{WIDTH - RIGHT}" stroke="#ddd"/>'
            f'<text x="{LEFT - 6}" y="{up}" text-anchor="end" dy="4">{y:.3g}</text>'
            f'<text x="{across:.0f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">'
            f"{shown:,.0f}</text>"
        )
    legend = LEFT
    for i, (name, points) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        joined = " ".join(at(x, y) for x, y in points)
        parts.append(
            f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
            f'<text x="{legend}" y="{HEIGHT - 8}" fill="{colour}">{escape(name)}</text>'
        )
        legend += 9 + 7 * len(name)
    parts.append(
        f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - BOTTOM + 32}" text-anchor="middle">'
        f"{escape(x_name)}</text>"
        f'<text transform="translate(13 {HEIGHT / 2 - 20}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_name)}</text></svg>"
    )
    return "\n".join(parts) + "\n"


def claims_plot(
    title: str, points: Mapping[str, Sequence[tuple[float, float, float, float]]]
) -> str:
    """An SVG of (claimed, right, low, high) points a name, with their bands and the diagonal."""
    every = [point for of_name in points.values() for point in of_name]
    low = math.floor(20 * min(min(p) for p in every)) / 20
    step = 0.05 if low >= 0.5 else 0.1

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (x - low) / (1.02 - low) * (WIDTH - LEFT - RIGHT)
        return across, HEIGHT - BOTTOM - (y - low) / (1 - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="13">{escape(title)}</text>',
        "<path d="
        f'"M{at(low, low)[0]:.1f} {at(low, low)[1]:.1f}L{at(1, 1)[0]:.1f} {at(1, 1)[1]:.1f}" '
        'stroke="#999" stroke-dasharray="4 3"/>',
    ]
    for i in range(int((1 - low) / step + 0.01) + 1):
        mark = 1 - step * i
        (x, _), (_, y) = at(mark, low), at(low, mark)
        parts.append(
            f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#eee"/>'
            f'<text x="{LEFT - 6}" y="{y:.1f}" text-anchor="end" dy="4">{mark:.2f}</text>'
            f'<text x="{x:.0f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{mark:.2f}</text>'
        )
    legend = LEFT
    for i, (name, of_name) in enumerate(points.items()):
        colour = COLOURS[i % len(COLOURS)]
        for claimed, right, least, most in of_name:
            x, y = at(claimed, right)
            x += 5 * (i - (len(points) - 1) / 2)
            parts.append(
                f'<path d="M{x:.1f} {at(1, least)[1]:.1f}V{at(1, most)[1]:.1f}" '
                f'stroke="{colour}" stroke-width="1.5"/>'
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
            )
        parts.append(f'<text x="{legend}" y="{HEIGHT - 8}" fill="{colour}">{escape(name)}</text>')
        legend += 9 + 7 * len(name)
    parts.append(
        f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - BOTTOM + 32}" text-anchor="middle">claimed'
        f'</text><text transform="translate(13 {HEIGHT / 2 - 20}) rotate(-90)" '
        'text-anchor="middle">right</text></svg>'
    )
    return "\n".join(parts) + "\n"
