import { CelEvaluationError } from './cel-error.js';
import type { CelFunction, FunctionTable } from './function-table.js';
import { type CelObject, type CelValue, LiteralMap } from './value.js';

const typeName = 'kubernetes.URL';

class CelUrl implements CelObject {
  readonly celType = typeName;
  readonly url: URL;

  constructor(text: string) {
    const url = parse(text);
    if (url === undefined) {
      throw new CelEvaluationError(
        `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
      );
    }
    this.url = url;
  }

  equals(other: CelValue): boolean {
    return other instanceof CelUrl && other.url.href === this.url.href;
  }
}

/** Absolute URLs and absolute paths, as Kubernetes has them in its expressions. */
export const urlFunctions: FunctionTable = {
  url: {
    signatures: [`url(string): ${typeName}`],
    run: ([text]) => (typeof text === 'string' ? new CelUrl(text) : undefined),
  },
  isURL: {
    signatures: ['isURL(string): bool'],
    run: ([text]) => (typeof text === 'string' ? parse(text) !== undefined : undefined),
  },
  getScheme: on('getScheme(): string', (url) => (isPath(url) ? '' : url.protocol.slice(0, -1))),
  getHost: on('getHost(): string', (url) => (isPath(url) ? '' : url.host)),
  getHostname: on('getHostname(): string', (url) => (isPath(url) ? '' : url.hostname.replace(/^\[|\]$/g, ''))),
  getPort: on('getPort(): string', (url) => url.port),
  getEscapedPath: on('getEscapedPath(): string', (url) => url.pathname),
  getQuery: on('getQuery(): map<string, list<string>>', (url) => {
    const names = [...new Set(url.searchParams.keys())];
    return new LiteralMap(names.map((name) => [name, url.searchParams.getAll(name)]));
  }),
};

/** A path has no scheme and no host; `URL` wants both. */
const stand = 'path:';

function parse(text: string): URL | undefined {
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(text);
  if (!isAbsolute && !text.startsWith('/')) return undefined;
  try {
    return new URL(isAbsolute ? text : `${stand}//x${text}`);
  } catch {
    return undefined;
  }
}

function isPath(url: URL): boolean {
  return url.protocol === stand;
}

function on(form: string, run: (url: URL) => CelValue): CelFunction {
  return {
    signatures: [`${typeName}.${form}`],
    run: (_, target) => (target instanceof CelUrl ? run(target.url) : undefined),
  };
}
