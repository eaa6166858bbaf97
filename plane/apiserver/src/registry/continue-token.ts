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
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    throw invalidToken('encountered an invalid continue token');
  }
  const { v: version, rv: revision, start } = record(parsed);
  const relative = text(start);
  if (version !== tokenVersion || typeof revision !== 'number' || relative === undefined || relative === '') {
    throw invalidToken('encountered an invalid continue token');
  }
  if (relative.includes('..')) throw invalidToken('invalid continue token: contains ..');
  return { revision, after: prefix + relative.replace(/^\//, '').replace(/\0$/, '') };
}

function invalidToken(problem: string) {
  return badRequest(`continue key is not valid: ${problem}`);
}
