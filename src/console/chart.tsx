/** Stacked bars on uPlot, with what a canvas can't give: a legend with totals, a readout, and the numbers as a table. */
import { useEffect, useRef, useState } from "preact/hooks";
import UPlot from "uplot";
import { Table } from "./parts.js";
import { count, shortCount } from "./words.js";

/** One layer of the stack, drawn only where one of its values is above 0. */
interface ChartSeries {
  readonly name: string;
  /** CSS custom property that holds its colour. */
  readonly color: string;
  /** One for each bar. */
  readonly values: readonly number[];
}

/** A moment that a dashed line marks. */
export interface ChartMark {
  /** In the unit of `starts`. */
  readonly at: number;
  readonly text: string;
}

/** What is stacked on which axis, and the words around it. */
interface StackedBarsProperties {
  /** What is drawn, for readers. */
  readonly label: string;
  /** Left edge of each bar, and its width in the same unit: seconds since the epoch when `isTime`. */
  readonly starts: readonly number[];
  readonly width: number;
  readonly isTime: boolean;
  readonly startName: string;
  readonly startText: (start: number) => string;
  readonly series: readonly ChartSeries[];
  readonly empty: string;
  readonly marks?: readonly ChartMark[];
  /** Bars were chosen, by a click, a drag or in the table: the start of the first and the end of the last, in the unit of `starts`. */
  readonly onPick?: (from: number, until: number) => void;
}

const height = 204;
/** Where a logarithmic axis begins: a bar of 1 is seen. */
const logFloor = 0.5;
const isPowerOfTen = (value: number): boolean => value >= 1 && Number.isInteger(Math.log10(value));
const noMarks: readonly ChartMark[] = [];

/** The chart with legend, readout of the hovered bar and a table of the same numbers; the text `empty` where all values are 0. */
export function StackedBars(properties: StackedBarsProperties) {
  const { label, starts, width, series, startName, startText, empty, marks = noMarks, onPick } = properties;
  const pick = useRef(onPick);
  pick.current = onPick;
  const place = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [isLog, setLog] = useState(false);
  const scheme = useScheme();
  const totals = series.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const hasData = totals.some((total) => total > 0);
  useEffect(() => {
    if (place.current === null || !hasData) return;
    return draw(place.current, properties, isLog, setHovered, onPick && ((from, until) => pick.current?.(from, until)));
  }, [starts, series, marks, scheme, hasData, isLog]);
  if (!hasData) return <p class="dim empty">{empty}</p>;
  const drawn = series.filter((_, index) => totals[index]! > 0);
  const rows = starts.map((_, index) => index).filter((index) => series.some(({ values }) => values[index]! > 0));
  return (
    <figure>
      <div ref={place} class="chart" role="img" aria-label={`${label}. The numbers are in the table below.`} />
      <p class="readout" aria-hidden="true">
        {hovered === null || starts[hovered] === undefined
          ? "\u00a0"
          : [
              `${startText(starts[hovered])}: ${series
                .filter(({ values }) => values[hovered]! > 0)
                .map(({ name, values }) => `${name} ${count(values[hovered]!)}`)
                .join(", ")}`,
              ...marks
                .filter(({ at }) => at >= starts[hovered]! && at < starts[hovered]! + width)
                .map(({ text }) => text),
            ].join(". ")}
      </p>
      <figcaption>
        <ul class="legend">
          {series.map(({ name, color }, index) => (
            <li key={name}>
              <span class={`swatch ${color.slice(2)}`} />
              {name} <b>{count(totals[index]!)}</b>
            </li>
          ))}
        </ul>
        <label class="check log-scale">
          <input type="checkbox" checked={isLog} onChange={(event) => setLog(event.currentTarget.checked)} />
          Log scale
        </label>
        <details>
          <summary>As a table</summary>
          <Table
            caption={label}
            columns={[
              {
                name: startName,
                cell: (index) =>
                  onPick === undefined ? (
                    startText(starts[index]!)
                  ) : (
                    <button type="button" class="quiet" onClick={() => onPick(starts[index]!, starts[index]! + width)}>
                      {startText(starts[index]!)}
                    </button>
                  ),
              },
              ...drawn.map(({ name, values }) => ({
                name,
                cell: (index: number) => count(values[index]!),
                isNumber: true,
              })),
            ]}
            rows={rows}
            rowKey={(index) => index}
            empty={empty}
          />
        </details>
      </figcaption>
    </figure>
  );
}

/** Draws and keeps the width; the returned function takes all of it away. */
function draw(
  place: HTMLElement,
  { starts, width, isTime, series, marks = noMarks }: StackedBarsProperties,
  isLog: boolean,
  onHover: (index: number | null) => void,
  onPick: StackedBarsProperties["onPick"],
): () => void {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color("--dim"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { stroke: color("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
  };
  const bars = UPlot.paths.bars!({ size: [0.86, 64], align: 1 });
  // The tallest stack is drawn first; each next one covers all but what it lacks.
  const stacks = stacked(series);
  const chart = new UPlot(
    {
      width: place.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: onPick !== undefined, y: false, setScale: false } },
      scales: {
        x: { time: isTime, range: [starts[0]!, starts.at(-1)! + width] },
        y: isLog
          ? { distr: 3, range: (_, __, max) => [logFloor, 10 ** Math.ceil(Math.log10(Math.max(10, max)))] }
          : { range: (_, __, max) => [0, Math.max(4, max * 1.05)] },
      },
      axes: [
        {
          ...axis,
          size: 34,
          grid: { show: false },
          ...(isTime && { values: (_: UPlot, splits: number[]) => splits.map(timeText) }),
        },
        {
          ...axis,
          size: 52,
          ...(isLog && {
            filter: (_: UPlot, splits: number[]) => splits.map((split) => (isPowerOfTen(split) ? split : null)),
          }),
          incrs: [1, 2, 5]
            .flatMap((step) => Array.from({ length: 9 }, (_, power) => step * 10 ** power))
            .sort((a, b) => a - b),
          values: (_, splits) => splits.map((split) => (split === null ? "" : shortCount(split))),
        },
      ],
      series: [
        {},
        ...stacks.map((stack) => ({
          label: stack.name,
          fill: color(stack.color),
          width: 0,
          paths: bars,
          points: { show: false },
        })),
      ],
      hooks: {
        draw: [(plot) => drawMarks(plot, marks, color("--ink"))],
        setCursor: [({ cursor }) => onHover(cursor.idx ?? null)],
        ...(onPick !== undefined && { ready: [(plot) => picked(plot, starts, width, onPick)] }),
      },
    },
    [[...starts], ...stacks.map(({ values }) => values.map((value) => (isLog && value === 0 ? null : value)))],
    place,
  );
  const observer = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height }));
  observer.observe(place);
  return () => {
    observer.disconnect();
    chart.destroy();
  };
}

/** Dashed lines through the whole height, over the bars. */
function drawMarks(plot: UPlot, marks: readonly ChartMark[], color: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { at } of marks) {
    const x = Math.round(plot.valToPos(at, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Tells which bars a click or a drag over the chart chose, by their times: the page may show other ones by the end of a drag. */
function picked(
  plot: UPlot,
  starts: readonly number[],
  width: number,
  onPick: (from: number, until: number) => void,
): void {
  const startAt = (x: number): number => {
    const index = Math.floor((plot.posToVal(x, "x") - starts[0]!) / width);
    return starts[Math.max(0, Math.min(starts.length - 1, index))]!;
  };
  const xOf = ({ clientX }: PointerEvent): number => clientX - plot.over.getBoundingClientRect().left;
  plot.over.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    const from = xOf(down);
    // Wherever it is let go: a drag to the last bar easily ends beside the chart.
    const end = (up: PointerEvent) => {
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      if (up.type === "pointercancel") return;
      const to = xOf(up);
      // uPlot has to hear of it first: it draws the selection.
      setTimeout(() => {
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        onPick(startAt(Math.min(from, to)), startAt(Math.max(from, to)) + width);
      });
    };
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  });
}

const hours = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** The hour, and at midnight the day. */
function timeText(seconds: number): string {
  const at = new Date(seconds * 1000);
  return (at.getHours() === 0 && at.getMinutes() === 0 ? days : hours).format(at);
}

/** Each series on top of those before it, the topmost first. */
function stacked(series: readonly ChartSeries[]): ChartSeries[] {
  const sums: number[] = [];
  return series
    .map(({ name, color, values }) => ({
      name,
      color,
      values: values.map((value, index) => {
        sums[index] = (sums[index] ?? 0) + value;
        return sums[index];
      }),
    }))
    .reverse();
}

/** "light" or "dark", as the system has it now. */
function useScheme(): string {
  const query = "(prefers-color-scheme: dark)";
  const [isDark, setDark] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setDark(list.matches);
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, []);
  return isDark ? "dark" : "light";
}
