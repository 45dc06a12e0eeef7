/** Line plots as SVG, small enough to read: axes (linear or logarithmic), grid, lines with points, a legend. Light and dark pages alike. */

interface Axis {
  readonly label: string;
  readonly isLog: boolean;
  /** Where lines of the grid stand, with their texts. The first and the last bound the axis. */
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly dashed?: boolean;
}

const [width, height] = [720, 400];
const area = { left: 70, right: 30, top: 46, bottom: 80 };
/** Distinguishable without colour vision (after Okabe and Ito), the blue lighter for dark pages. */
const colours = ["#1f83c4", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

const gridLook = 'stroke="#888" stroke-opacity=".4" stroke-width=".5"';

export function plot(title: string, x: Axis, y: Axis, lines: readonly Line[]): string {
  const toX = scale(x, area.left, width - area.right);
  const toY = scale(y, height - area.bottom, area.top);
  const parts = [
    text(width / 2, 22, title, 'text-anchor="middle" font-size="15" font-weight="600"'),
    ...x.ticks.map(
      ({ at, text: label }) =>
        `<line x1="${toX(at)}" x2="${toX(at)}" y1="${area.top}" y2="${height - area.bottom}" ${gridLook}/>${text(toX(at), height - area.bottom + 16, label, 'text-anchor="middle"')}`,
    ),
    ...y.ticks.map(
      ({ at, text: label }) =>
        `<line x1="${area.left}" x2="${width - area.right}" y1="${toY(at)}" y2="${toY(at)}" ${gridLook}/>${text(area.left - 6, toY(at) + 4, label, 'text-anchor="end"')}`,
    ),
    text(width / 2, height - area.bottom + 36, x.label, 'text-anchor="middle"'),
    text(0, 0, y.label, `text-anchor="middle" transform="translate(16 ${height / 2 - 20}) rotate(-90)"`),
    ...lines.flatMap((line, index) => lineParts(line, index, toX, toY)),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="currentColor" role="img" aria-label="${escaped(title)}">`,
    // For the file alone. A page that takes the plot in leaves both out: texts then have the page's own colour.
    "<style>svg{color:#24292f}.back{fill:#fff}@media(prefers-color-scheme:dark){svg{color:#e6edf3}.back{fill:#0d1117}}</style>",
    `<rect width="${width}" height="${height}" class="back"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

function lineParts({ name, points, dashed }: Line, index: number, toX: Scale, toY: Scale): string[] {
  const colour = colours[index % colours.length]!;
  const places = points.map(([x, y]) => [toX(x), toY(y)] as const);
  const [column, row] = [index % 3, Math.floor(index / 3)];
  const [legendX, legendY] = [area.left + column * 215, height - 28 + row * 16];
  const dash = dashed === true ? ' stroke-dasharray="5 4"' : "";
  return [
    `<polyline points="${places.map((place) => place.join(",")).join(" ")}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`,
    ...places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`),
    `<line x1="${legendX}" x2="${legendX + 22}" y1="${legendY - 4}" y2="${legendY - 4}" stroke="${colour}" stroke-width="3"${dash}/>`,
    text(legendX + 28, legendY, name, ""),
  ];
}

type Scale = (value: number) => number;

/** Values outside the axis are put on its edge. */
function scale({ ticks, isLog }: Axis, from: number, to: number): Scale {
  const place = (value: number): number => (isLog ? Math.log10(value) : value);
  const [low, high] = [ticks[0]!.at, ticks.at(-1)!.at];
  return (value) => {
    const inside = Math.min(high, Math.max(low, value));
    const share = (place(inside) - place(low)) / (place(high) - place(low) || 1);
    return Math.round((from + share * (to - from)) * 10) / 10;
  };
}

function text(x: number, y: number, value: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(value)}</text>`;
}

function escaped(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** Powers of ten that hold all values, each with a text. */
export function logTicks(values: readonly number[], show: (value: number) => string): Axis["ticks"] {
  const known = values.filter((value) => value > 0);
  const [low, high] = [Math.floor(Math.log10(Math.min(...known))), Math.ceil(Math.log10(Math.max(...known)))];
  return Array.from({ length: Math.max(2, high - low + 1) }, (_, index) => {
    const at = 10 ** (low + index);
    return { at, text: show(at) };
  });
}

/** Round steps from 0 to above the highest value. */
export function linearTicks(values: readonly number[], show: (value: number) => string): Axis["ticks"] {
  const high = Math.max(...values, 1e-9);
  const power = 10 ** Math.floor(Math.log10(high / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each * 5 >= high) ?? high;
  return Array.from({ length: Math.ceil(high / step) + 1 }, (_, index) => ({
    at: index * step,
    text: show(index * step),
  }));
}
