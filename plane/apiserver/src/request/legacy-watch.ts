import type { ApiRequest } from '../server/http.js';
import { decoded } from './request-info.js';

const form = /^(\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+))\/watch(\/.+)$/;

/**
 * Paths of old clients say `watch` before the resource: `/api/v1/watch/namespaces/x/pods/a`. They mean what the collection
 * means with `?watch=1`, and with a field selector where they name one object.
 */
export function withoutLegacyWatch(request: ApiRequest): ApiRequest {
  const [, root, rest = ''] = (request.method === 'GET' && form.exec(request.path)) || [];
  if (root === undefined) return request;
  const query = new URLSearchParams(request.query);
  query.set('watch', '1');
  const segments = rest.split('/').slice(1);
  const isInNamespace = segments[0] === 'namespaces' && segments.length > 2;
  const nameAt = isInNamespace ? 3 : 1;
  const named = decoded(segments.slice(nameAt, nameAt + 1));
  if (named === undefined) return request;
  const [name] = named;
  if (name !== undefined) {
    const selector = query.get('fieldSelector') ?? '';
    const ofName = `metadata.name=${name}`;
    query.set('fieldSelector', selector === '' ? ofName : `${selector},${ofName}`);
  }
  const path = `${root}/${segments.slice(0, nameAt).join('/')}`;
  return { ...request, path, query };
}
