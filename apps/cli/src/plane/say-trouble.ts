import type { LogFields } from '@castellan/runtime';

/**
 * Says trouble of the plane to people: what, and the error in the same line. What repeats itself is said once; the log has
 * every time.
 */
export function sayTroubleOnce(say: (line: string) => void): (message: string, fields: LogFields) => void {
  let last: string | undefined;
  return (message, fields) => {
    const about = ['controller', 'pod', 'key'].flatMap((name) => (name in fields ? [String(fields[name])] : []));
    const error = fields.error === undefined ? [] : [firstLineOf(fields.error)];
    const line = [[message, ...about].join(' '), ...error].join(': ');
    if (line === last) return;
    last = line;
    say(line);
  };
}

function firstLineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}
