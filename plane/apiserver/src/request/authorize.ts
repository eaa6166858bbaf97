import { StatusError } from '@castellan/machinery';
import type { ApiRequest, User } from '../server/http.js';
import type { RequestInfo } from './request-info.js';

export const administratorsGroup = 'system:masters';
const authenticatedGroup = 'system:authenticated';
const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** What anybody may read (`system:public-info-viewer`). */
const publicPaths = ['/healthz', '/livez', '/readyz', '/version'];

/** Who speaks: the client certificate's name, or nobody in particular. A token that we did not issue is refused. */
export function authenticate(request: ApiRequest): User {
  const bearer = /^Bearer\s+(\S+)/i.exec(request.headers.authorization ?? '');
  if (request.certificateUser !== undefined) {
    const { name, groups } = request.certificateUser;
    return { name, groups: [...groups, authenticatedGroup] };
  }
  if (bearer !== null) throw StatusError.of('Unauthorized', 'Unauthorized');
  return anonymous;
}

/** Administrators may do everything, all others only read what is public. Role-based rules will be asked here. */
export function authorize(user: User, request: ApiRequest, info: RequestInfo): void {
  if (user.groups.includes(administratorsGroup)) return;
  const verb = verbOf(request, info);
  if (info.type === 'path') {
    const isPublic = publicPaths.some((path) => info.path === path || info.path.startsWith(`${path}/`));
    if (isPublic && verb === 'get') return;
    throw StatusError.of('Forbidden', `forbidden: User "${user.name}" cannot ${verb} path "${info.path}"`, {});
  }
  const { group, plural, namespace, name = '', subresource } = info;
  const resource = subresource === '' ? plural : `${plural}/${subresource}`;
  const qualified = group === '' ? plural : `${plural}.${group}`;
  const subject = name === '' ? qualified : `${qualified} "${name}"`;
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  throw StatusError.of(
    'Forbidden',
    `${subject} is forbidden: User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`,
    { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: plural },
  );
}

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
