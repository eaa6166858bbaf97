import { readFile } from 'node:fs/promises';
import type { User } from '../server/http.js';
import { authenticatedGroup } from './groups.js';

/** A token file cannot be read, or a line of it says too little. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

/** Whose each token is. */
export type StaticTokens = ReadonlyMap<string, User>;

export const noStaticTokens: StaticTokens = new Map();

/**
 * Tokens that hold until the server ends, as kube-apiserver's `--token-auth-file` has them: on each line
 * `token,user,uid` and perhaps `,"group1,group2"`.
 *
 * @throws TokenFileError
 */
export async function readTokenFile(path: string): Promise<StaticTokens> {
  const content = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new TokenFileError(error instanceof Error ? error.message : String(error), { cause: error });
  });
  return parseTokenFile(content);
}

function parseTokenFile(content: string): StaticTokens {
  const tokens = new Map<string, User>();
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const [token = '', name = '', uid, groups = ''] = columnsOf(line);
    const problem = (what: string) => new TokenFileError(`line ${index + 1}: ${what}`);
    if (uid === undefined) throw problem('there must be at least three columns: token, user name, user uid');
    if (token === '') throw problem('the token is empty');
    if (tokens.has(token)) throw problem('the token is there twice');
    const named = groups.split(',').filter((group) => group !== '');
    tokens.set(token, { name, ...(uid === '' ? {} : { uid }), groups: [...named, authenticatedGroup] });
  }
  return tokens;
}

/** The columns of a line of comma-separated values (RFC 4180): in double quotes, or without commas. */
function columnsOf(line: string): readonly string[] {
  const columns = `,${line}`.matchAll(/,\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))/g);
  return [...columns].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '');
}
