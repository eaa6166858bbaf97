import { type KubernetesObject, parseExactJson, type Status, StatusError, statusReasons } from '@castellan/machinery';
import type { RawResponse } from './client.js';

/** A list of everything in a large cluster fits; an endless body does not. */
const maxBodyBytes = 512 * 1024 * 1024;

export async function readBody(response: RawResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) throw new RangeError(`the reply is larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}

/** The reply's Status, or, where a proxy or a bare error answered, one made from the HTTP status. */
export function statusErrorOf(response: RawResponse, body: string): StatusError {
  const status = parsedStatus(body) ?? statusOf(response.status, body);
  const seconds = retryAfterSeconds(response);
  if (seconds === undefined || status.details?.retryAfterSeconds !== undefined) return new StatusError(status);
  return new StatusError({ ...status, details: { ...status.details, retryAfterSeconds: seconds } });
}

/** The Retry-After header in seconds; its date form is not used by Kubernetes and counts as absent. */
export function retryAfterSeconds(response: RawResponse): number | undefined {
  const text = response.headers['retry-after'];
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

export function isObjectOf<T extends KubernetesObject>(value: unknown): value is T {
  return typeof value === 'object' && value !== null && 'metadata' in value && typeof value.metadata === 'object';
}

export function isStatus(value: unknown): value is Status {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
}

function parsedStatus(body: string): Status | undefined {
  try {
    const value: unknown = parseExactJson(body);
    return isStatus(value) ? value : undefined;
  } catch {
    // Not JSON: some proxies and some of the server's own refusals are plain text.
    return undefined;
  }
}

function statusOf(code: number, body: string): Status {
  const reason = Object.entries(statusReasons).find(([, known]) => known === code)?.[0];
  const text = body.trim().slice(0, 1_000);
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: text === '' ? `the server answered ${code}` : text,
    ...(reason === undefined ? {} : { reason }),
    code,
  };
}
