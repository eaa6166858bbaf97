/** The parts of Go's time layout, each with what it reads from the front of a text. */
interface Element {
  readonly layout: string;
  readonly pattern: RegExp;
  readonly range?: { readonly name: string; readonly least: number; readonly most: number };
}

const date: readonly Element[] = [
  { layout: '2006', pattern: /^\d{4}/ },
  { layout: '-', pattern: /^-/ },
  { layout: '01', pattern: /^\d{2}/, range: { name: 'month', least: 1, most: 12 } },
  { layout: '-', pattern: /^-/ },
  { layout: '02', pattern: /^\d{2}/, range: { name: 'day', least: 1, most: 31 } },
  { layout: 'T', pattern: /^T/ },
  { layout: '15', pattern: /^\d{2}/, range: { name: 'hour', least: 0, most: 23 } },
  { layout: ':', pattern: /^:/ },
  { layout: '04', pattern: /^\d{2}/, range: { name: 'minute', least: 0, most: 59 } },
  { layout: ':', pattern: /^:/ },
];
const zone: Element = { layout: 'Z07:00', pattern: /^(?:Z|[+-]\d{2}:\d{2})/ };
const second = { layout: '05', range: { name: 'second', least: 0, most: 59 } } as const;
/** Seconds may have a fraction that the layout does not speak of. */
const rfc3339 = [...date, { ...second, pattern: /^\d{2}(?:[.,]\d+)?/ }, zone];
const micro = [...date, { ...second, pattern: /^\d{2}/ }, { layout: '.000000', pattern: /^[.,]\d{6}/ }, zone];

export type GoTime = { readonly value: string } | { readonly problem: string };

/** A text as Go's metav1.Time reads it, written as it writes it: in UTC, in whole seconds. */
export function goTime(text: string): GoTime {
  return parse(text, rfc3339, (iso) => `${new Date(iso).toISOString().slice(0, 19)}Z`);
}

/** A text as Go's metav1.MicroTime reads it, which insists on six digits of a second. */
export function goMicroTime(text: string): GoTime {
  return parse(text, micro, (iso) => {
    const micros = /[.,](\d{6})/.exec(iso)?.[1] ?? '000000';
    return `${new Date(iso).toISOString().slice(0, 19)}.${micros}Z`;
  });
}

function parse(text: string, elements: readonly Element[], write: (iso: string) => string): GoTime {
  const fail = (what: string): GoTime => ({ problem: `parsing time ${JSON.stringify(text)}${what}` });
  const layout = elements.map((element) => element.layout).join('');
  let rest = text;
  for (const { layout: element, pattern, range } of elements) {
    const [found] = pattern.exec(rest) ?? [];
    if (found === undefined) {
      return fail(` as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(element)}`);
    }
    const number = Number.parseInt(found, 10);
    if (range !== undefined && (number < range.least || number > range.most))
      return fail(`: ${range.name} out of range`);
    rest = rest.slice(found.length);
  }
  if (rest !== '') return fail(`: extra text: ${JSON.stringify(rest)}`);
  const [year = 0, month = 1, day = 1] = text.slice(0, 10).split('-').map(Number);
  // The day before the first of the next month is the last of this one.
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return fail(': day out of range');
  return { value: write(text.replace(',', '.')) };
}
