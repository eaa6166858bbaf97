import type { ApiRequest } from '../server/http.js';
import type { RequestInfo } from './request-info.js';

/** The Kubernetes verb of a request. */
export function verbOf({ method, query }: ApiRequest, info: RequestInfo): string {
  if (info.type === 'path') return method.toLowerCase();
  const isCollection = info.name === undefined;
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (!isCollection) return 'get';
      return isTrue(query.get('watch')) ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isCollection ? 'deletecollection' : 'delete';
    default:
      return method.toLowerCase();
  }
}

/** A boolean of a query: present and neither false nor 0. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}
