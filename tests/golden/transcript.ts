import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A recorded conversation. README.md beside this file says what its members mean. */
export interface Transcript {
  readonly name: string;
  readonly needs: readonly string[];
  readonly namespace?: boolean;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly request?: RecordedRequest;
  readonly response?: RecordedReply;
  readonly note?: string;
  readonly until?: Until;
  readonly capture?: Readonly<Record<string, string>>;
  readonly tolerate?: readonly Tolerance[];
  readonly pause?: number;
  readonly collect?: string;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly auth?: 'none' | 'bearer';
  readonly watch?: { readonly count?: number; readonly timeoutMs?: number; readonly as?: string };
}

export interface RecordedReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly select?: Readonly<Record<string, unknown>>;
  readonly ended?: string;
}

interface Until {
  readonly status?: number;
  readonly pointer?: string;
  readonly equals?: unknown;
  readonly timeoutMs?: number;
}

export interface Tolerance {
  readonly pointer: string;
  readonly how: 'any' | 'present' | 'superset' | 'unordered' | 'unorderedText';
}

const recorded = fileURLToPath(new URL('../../golden/recorded', import.meta.url));

/** All transcripts whose file's name matches, in order of name. */
export function readTranscripts(only = /./): readonly Transcript[] {
  return readdirSync(recorded)
    .filter((file) => file.endsWith('.json') && only.test(file))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(recorded, file), 'utf8')) as Transcript);
}

/** How a step is called in reports. */
export function stepTitle({ request, collect, pause, note }: Step): string {
  const what = request === undefined ? (collect ?? `pause ${pause} ms`) : `${request.method} ${request.path}`;
  return note === undefined ? what : `${what} (${note})`;
}
