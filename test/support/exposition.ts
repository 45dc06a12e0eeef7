/** Reads what Prometheus reads. */

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A parsed exposition. */
export interface Exposition {
  readonly samples: readonly Sample[];
  /** Metric types by name, as the TYPE lines say. */
  readonly types: ReadonlyMap<string, string>;
  /** The sum over all series of a name that have these labels; 0 if there are none. Throws for a name that the exposition doesn't have. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

/** Reads the text format 0.0.4; throws at a line that is none of it. */
export function parseExposition(text: string): Exposition {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  for (const line of text.split("\n")) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (type !== null) types.set(type[1]!, type[2]!);
    if (line === "" || line.startsWith("#")) continue;
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (sample === null) throw new Error(`not a sample: ${line}`);
    const value = sample[3] === "Nan" ? Number.NaN : Number(sample[3]!.replace("+Inf", "Infinity"));
    samples.push({ name: sample[1]!, labels: parseLabels(sample[2] ?? ""), value });
  }
  const sum: Exposition["sum"] = (name, labels = {}) => {
    if (!types.has(name.replace(/_(bucket|sum|count)$/, "")) && !types.has(name)) {
      throw new Error(`no ${name} in an exposition of ${text.length} characters`);
    }
    return samples
      .filter(
        (each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
      )
      .reduce((total, { value }) => total + value, 0);
  };
  return { samples, types, sum };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const rest = text.replace(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g, (_, name: string, value: string) => {
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
    return "";
  });
  if (rest !== "") throw new Error(`not labels: ${text}`);
  return labels;
}
