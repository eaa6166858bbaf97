import pc from 'picocolors';
import type { Reporter, Streams } from './reporter.js';

/** Lines for people; with colours on a terminal. Never repaints, so it reads the same in a log file. */
export function textReporter(streams: Streams, options: { readonly isColoured: boolean }): Reporter {
  const colour = pc.createColors(options.isColoured);
  return {
    format: 'text',
    heading: (text) => streams.out(`\n${colour.bold(text)}\n`),
    line: (text) => streams.out(`  ${text}\n`),
    warn: (text) => streams.out(`${colour.yellow('!')} ${text}\n`),
    phase: (name, ms) => streams.out(`${colour.green('✓')} ${name} ${colour.dim(formatSeconds(ms))}\n`),
    result: (_value, text) => {
      const lines = text();
      if (lines !== '') streams.out(lines.endsWith('\n') ? lines : `${lines}\n`);
    },
    failure: ({ message, next }) =>
      streams.err(`${colour.red('✗')} ${message}\n${next === '' ? '' : `${colour.bold('Next:')} ${next}\n`}`),
  };
}

export function formatSeconds(ms: number): string {
  return ms < 9_950 ? `${(ms / 1000).toFixed(2)} s` : `${(ms / 1000).toFixed(1)} s`;
}
