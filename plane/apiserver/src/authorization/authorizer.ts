import { type StatusDetails, StatusError } from '@castellan/machinery';
import type { User } from '../server/http.js';
import { type Attributes, type Decision, refusalOf } from './attributes.js';
import type { NodeAccess } from './node-access.js';
import type { PolicyRule } from './policy-rule.js';
import type { RoleBasedAccess } from './role-based.js';

const administratorsGroup = 'system:masters';

/** Everything: what administrators may do. */
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

/** Who may do what: administrators everything, nodes what concerns their pods, all others what roles grant them. */
export class Authorizer {
  private readonly nodes: NodeAccess;
  private readonly roles: RoleBasedAccess;
  private readonly bootstrap: () => Promise<void>;

  /** `bootstrap` resolves when the roles that every cluster has are there. */
  constructor(options: {
    readonly nodes: NodeAccess;
    readonly roles: RoleBasedAccess;
    readonly bootstrap: () => Promise<void>;
  }) {
    this.nodes = options.nodes;
    this.roles = options.roles;
    this.bootstrap = options.bootstrap;
  }

  async decide(attributes: Attributes): Promise<Decision> {
    if (isAdministrator(attributes.user)) return { isAllowed: true, reason: '' };
    const asNode = await this.nodes.decide(attributes);
    if (asNode?.isAllowed === true) return asNode;
    await this.bootstrap();
    const byRole = await this.roles.decide(attributes);
    if (byRole.isAllowed) return byRole;
    return { isAllowed: false, reason: [asNode?.reason, byRole.reason].filter(Boolean).join('\n') };
  }

  /** Fails with a 403 that says what is missing. */
  async assert(attributes: Attributes): Promise<void> {
    // Most requests are the plane's own: no wait for them.
    if (isAdministrator(attributes.user)) return;
    const { isAllowed, reason } = await this.decide(attributes);
    if (!isAllowed) throw forbiddenTo(attributes, reason);
  }

  async rulesOf(user: User, namespace: string): Promise<readonly PolicyRule[]> {
    if (isAdministrator(user)) return everything;
    await this.bootstrap();
    return this.roles.rulesOf(user, namespace);
  }

  rulesOfRole(...args: Parameters<RoleBasedAccess['rulesOfRole']>): ReturnType<RoleBasedAccess['rulesOfRole']> {
    return this.roles.rulesOfRole(...args);
  }
}

export function isAdministrator(user: User): boolean {
  return user.groups.includes(administratorsGroup);
}

export function forbiddenTo(attributes: Attributes, reason = ''): StatusError {
  const because = reason === '' ? '' : `: ${reason}`;
  if (attributes.type === 'path') return forbiddenError(`forbidden: ${refusalOf(attributes)}${because}`, {});
  const { group, resource, name } = attributes;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const subject = name === '' ? qualified : `${qualified} "${name}"`;
  return forbiddenError(`${subject} is forbidden: ${refusalOf(attributes)}${because}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}

function forbiddenError(message: string, details: StatusDetails): StatusError {
  return StatusError.of('Forbidden', message, details);
}
