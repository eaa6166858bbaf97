/** The labels of one series; their names are fixed where the metric is made. */
export type Labels = Readonly<Record<string, string>>;

/** More series of one metric than this are not kept: labels made of what others write would fill the memory. */
const mostSeries = 10_000;

interface Family {
  lines(): readonly string[];
}

/** The metrics of one process, in Prometheus' text format (version 0.0.4). A name is made once. */
export class Metrics {
  static readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string): Counter {
    return this.#add(name, new Counter(name, help));
  }

  /** `read` is asked when the metrics are. */
  gauge(name: string, help: string, read: () => Iterable<readonly [labels: Labels, value: number]>): void {
    this.#add(name, {
      lines: () => [
        ...heading(name, 'gauge', help),
        ...[...read()].map(([labels, value]) => `${name}${braces(labels)} ${value}`),
      ],
    });
  }

  /** @param bounds upper bounds of the buckets, rising; the last one, infinity, is added. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.#add(name, new Histogram(name, help, bounds));
  }

  /** The whole page. */
  text(): string {
    return `${[...this.#families.values()].flatMap((family) => family.lines()).join('\n')}\n`;
  }

  #add<T extends Family>(name: string, family: T): T {
    if (this.#families.has(name)) throw new Error(`the metric ${name} was made before: make it once and share it`);
    this.#families.set(name, family);
    return family;
  }
}

export class Counter implements Family {
  readonly #name: string;
  readonly #help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: Labels, by = 1): void {
    const key = braces(labels);
    const value = this.#values.get(key);
    if (value === undefined && this.#values.size >= mostSeries) return;
    this.#values.set(key, (value ?? 0) + by);
  }

  lines(): readonly string[] {
    return [
      ...heading(this.#name, 'counter', this.#help),
      ...[...this.#values].map(([labels, value]) => `${this.#name}${labels} ${value}`),
    ];
  }
}

interface Distribution {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
}

export class Histogram implements Family {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Distribution>();

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  observe(labels: Labels, value: number): void {
    const key = braces(labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      if (this.#series.size >= mostSeries) return;
      series = { labels, counts: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0 };
      this.#series.set(key, series);
    }
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const index = found < 0 ? this.#bounds.length : found;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += value;
  }

  lines(): readonly string[] {
    return [
      ...heading(this.#name, 'histogram', this.#help),
      ...[...this.#series.values()].flatMap((series) => this.#linesOf(series)),
    ];
  }

  #linesOf({ labels, counts, sum }: Distribution): readonly string[] {
    let below = 0;
    const buckets = counts.map((count, index) => {
      below += count;
      return `${this.#name}_bucket${braces({ ...labels, le: String(this.#bounds[index] ?? '+Inf') })} ${below}`;
    });
    return [...buckets, `${this.#name}_sum${braces(labels)} ${sum}`, `${this.#name}_count${braces(labels)} ${below}`];
  }
}

function heading(name: string, type: string, help: string): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

/** JSON's escapes of quotes, backslashes and line ends are Prometheus' too. */
function braces(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
