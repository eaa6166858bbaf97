import type { Revision } from '@castellan/keyspace';
import { badRequest } from '../errors.js';
import { record, text } from '../json.js';

const tokenVersion = 'meta.k8s.io/v1';
/** A token with this revision goes on with what is there now. */
const inconsistentRevision = -1;

/** `start` is the key, relative to the list's prefix, after which the next page begins. */
export function encodeContinue(revision: Revision, lastRelativeKey: string): string {
  const token = { v: tokenVersion, rv: revision, start: `${lastRelativeKey}\0` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

export function encodeInconsistentContinue(lastRelativeKey: string): string {
  return encodeContinue(inconsistentRevision, lastRelativeKey);
}

export function parseContinue(token: string, prefix: string): { readonly revision: Revision; readonly after: string } {
  const bytes = Buffer.from(token, 'base64url');
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw invalidToken(goProblem(bytes));
  }
  const { v: version, rv: revision, start } = record(parsed);
  const relative = text(start) ?? '';
  if (version !== tokenVersion)
    throw invalidToken(`server does not recognize this encoded version ${text(version) ?? ''}`);
  if (typeof revision !== 'number' || revision === 0) throw invalidToken('incorrect encoded start resourceVersion');
  if (relative === '') throw invalidToken('encoded start key empty');
  if (relative.split('/').includes('..')) throw invalidToken(relative);
  return { revision, after: beforeStart(prefix + relative.replace(/^\//, '')) };
}

/** Pages begin at `start`; ours at the first key after another: `a\0` is what follows `a`, and `a` may be there itself. */
function beforeStart(start: string): string {
  if (start.endsWith('\0')) return start.slice(0, -1);
  const last = start.charCodeAt(start.length - 1);
  return `${start.slice(0, -1)}${String.fromCharCode(last - 1)}\u007f`;
}

/** What Go's JSON decoder says of what no server gave. */
function goProblem(bytes: Uint8Array): string {
  const [first] = bytes;
  if (first === undefined) return 'unexpected end of JSON input';
  if (first === 0x7b) return 'it is not the JSON that this server gave';
  const hex = first.toString(16).padStart(2, '0');
  const isShown = first > 0x20 && first < 0x7f;
  const shown = isShown ? String.fromCharCode(first) : first < 0x20 ? `\\x${hex}` : `\\u00${hex}`;
  return `invalid character '${shown}' looking for beginning of value`;
}

function invalidToken(problem: string) {
  return badRequest(`invalid continue token: continue key is not valid: ${problem}`);
}
