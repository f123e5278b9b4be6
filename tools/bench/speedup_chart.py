"""An SVG bar chart of speed-ups, one bar per query, with a line at 1x. No dependencies: the file is meant to be shown in a README."""

WIDTH, HEIGHT = 860, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 46, 44
FASTER, SLOWER, INK, GRID = "#2f7d4f", "#c2703d", "#444", "#d8d8d8"


def nice_step(top):
    return next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100) if top / step <= 6)


def speedup_chart(title, subtitle, speedups):
    """`speedups` is a list of (label, ratio); a ratio above 1 means faster than the peer."""
    top = max(1.2, max(ratio for _, ratio in speedups) * 1.08)
    step = nice_step(top)
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def y(ratio):
        return TOP + plot_height * (1 - ratio / top)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="Helvetica, Arial, sans-serif">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="20" font-size="15" font-weight="bold" fill="{INK}">{title}</text>',
             f'<text x="{LEFT}" y="37" font-size="11" fill="{INK}">{subtitle}</text>']
    for tick in range(int(top / step) + 1):
        value = tick * step
        lines.append(f'<line x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDTH - RIGHT}" y2="{y(value):.1f}" stroke="{GRID}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" font-size="11" text-anchor="end" fill="{INK}">{value:g}x</text>')
    slot = plot_width / len(speedups)
    for place, (label, ratio) in enumerate(speedups):
        x = LEFT + slot * place + slot * 0.14
        middle = LEFT + slot * (place + 0.5)
        lines.append(f'<rect x="{x:.1f}" y="{y(ratio):.1f}" width="{slot * 0.72:.1f}" height="{y(0) - y(ratio):.1f}" fill="{FASTER if ratio >= 1 else SLOWER}"/>')
        lines.append(f'<text x="{middle:.1f}" y="{y(ratio) - 4:.1f}" font-size="9" text-anchor="middle" fill="{INK}">{ratio:.2g}</text>')
        lines.append(f'<text x="{middle:.1f}" y="{HEIGHT - BOTTOM + 15}" font-size="11" text-anchor="middle" fill="{INK}">{label}</text>')
    lines.append(f'<line x1="{LEFT}" y1="{y(1):.1f}" x2="{WIDTH - RIGHT}" y2="{y(1):.1f}" stroke="{INK}" stroke-width="1.5" stroke-dasharray="5 3"/>')
    lines.append(f'<text x="{LEFT + plot_width / 2}" y="{HEIGHT - 10}" font-size="11" text-anchor="middle" fill="{INK}">TPC-H query; the dashed line is DuckDB</text>')
    lines.append("</svg>")
    return "\n".join(lines) + "\n"
