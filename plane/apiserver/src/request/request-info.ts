/** What a URL asks for, as kube-apiserver reads it. */
export type RequestInfo =
  | { readonly type: 'path'; readonly path: string }
  | {
      readonly type: 'resource';
      readonly group: string;
      readonly version: string;
      readonly namespace?: string;
      readonly plural: string;
      readonly name?: string;
      /** '' for the object itself. */
      readonly subresource: string;
    };

/** Names below `namespaces/NAME/` that are subresources of the namespace, not resources in it. */
const namespaceSubresources = ['status', 'finalize'];

export function parseRequestInfo(path: string): RequestInfo {
  const segments = path.split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  const [root, first, second] = segments;
  if (root === 'api' && first !== undefined && segments.length > 2) {
    return resourceInfo('', first, segments.slice(2), path);
  }
  if (root === 'apis' && first !== undefined && second !== undefined && segments.length > 3) {
    return resourceInfo(first, second, segments.slice(3), path);
  }
  return { type: 'path', path: `/${segments.join('/')}` };
}

function resourceInfo(group: string, version: string, encoded: readonly string[], path: string): RequestInfo {
  const segments = decoded(encoded);
  if (segments === undefined) return { type: 'path', path };
  const [head, namespace, third] = segments;
  const isInNamespace =
    head === 'namespaces' && namespace !== undefined && third !== undefined && !namespaceSubresources.includes(third);
  const [plural = '', name, ...rest] = isInNamespace ? segments.slice(2) : segments;
  return {
    type: 'resource',
    group,
    version,
    plural,
    ...(isInNamespace ? { namespace } : {}),
    ...(name === undefined ? {} : { name }),
    // What follows a proxy is a path of whoever is behind it.
    subresource: rest[0] === 'proxy' ? 'proxy' : rest.join('/'),
  };
}

/** The segments of a path without their percent encoding; undefined where one of them has none that can be read. */
export function decoded(segments: readonly string[]): readonly string[] | undefined {
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
