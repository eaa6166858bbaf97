import { type FieldError, fieldError, invalidError } from '@castellan/machinery';
import { badRequest } from '../errors.js';
import { isTrue } from './authorize.js';

/** What a query asks of a log: PodLogOptions of v1, but for the container. */
export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** Since the Unix epoch. */
  readonly sinceMs?: number;
}

/** Fails with a 400 where a value cannot be read, and with a 422 where it may not be. */
export function readLogOptions(query: URLSearchParams, pod: string, nowMs: number): LogOptions {
  const tailLines = integerOf(query, 'tailLines');
  const limitBytes = integerOf(query, 'limitBytes');
  const sinceSeconds = integerOf(query, 'sinceSeconds');
  const sinceTimeMs = timeOf(query.get('sinceTime') ?? '');
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(fieldError.invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    errors.push(fieldError.invalid('limitBytes', limitBytes, 'must be greater than 0'));
  }
  if (sinceSeconds !== undefined && sinceTimeMs !== undefined) {
    errors.push(fieldError.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(fieldError.invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  // Behind an alpha gate upstream (PodLogsQuerySplitStreams), which is off.
  if (query.has('stream')) errors.push(fieldError.forbidden('stream', 'may not be specified'));
  if (errors.length > 0) throw invalidError({ group: '', kind: 'PodLogOptions' }, pod, errors);
  const sinceMs = sinceTimeMs ?? (sinceSeconds === undefined ? undefined : nowMs - sinceSeconds * 1000);
  return {
    follow: isTrue(query.get('follow')),
    previous: isTrue(query.get('previous')),
    timestamps: isTrue(query.get('timestamps')),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
}

function integerOf(query: URLSearchParams, parameter: string): number | undefined {
  const value = query.get(parameter);
  if (value === null) return undefined;
  if (!/^[+-]?\d+$/.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  return Number(value);
}

/** RFC 3339, to the second or finer. */
function timeOf(value: string): number | undefined {
  if (value === '' || value === 'null') return undefined;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  const layout = '2006-01-02T15:04:05Z07:00';
  const shown = JSON.stringify(value);
  throw badRequest(`parsing time ${shown} as ${JSON.stringify(layout)}: cannot parse ${shown} as "2006"`);
}
