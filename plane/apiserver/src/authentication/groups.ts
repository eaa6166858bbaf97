import type { User } from '../server/http.js';

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';

/** Who speaks when nothing says who does. */
export const anonymousUser: User = { name: 'system:anonymous', groups: [unauthenticatedGroup] };
