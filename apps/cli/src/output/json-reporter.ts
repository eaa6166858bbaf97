import type { Reporter, Streams } from './reporter.js';

/** One JSON document on standard output; progress and errors as JSON lines on standard error. */
export function jsonReporter(streams: Streams): Reporter {
  const progress = (type: string, fields: Readonly<Record<string, unknown>>): void =>
    streams.err(`${JSON.stringify({ type, ...fields })}\n`);
  return {
    format: 'json',
    heading: (text) => progress('heading', { text }),
    line: (text, fields) => progress('line', { text, ...fields }),
    warn: (text, fields) => progress('warning', { text, ...fields }),
    phase: (name, ms) => progress('phase', { name, ms: Math.round(ms) }),
    result: (value) => streams.out(`${JSON.stringify(value, null, 2)}\n`),
    failure: (failure) => progress('error', { ...failure }),
  };
}
