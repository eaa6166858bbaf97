import type { User } from '../server/http.js';

const prefix = 'system:node:';
const nodesGroup = 'system:nodes';

/** The name of the node that speaks; undefined for all who are no nodes. It may be '': a node that nobody knows. */
export function nodeOf({ name, groups }: User): string | undefined {
  return name.startsWith(prefix) && groups.includes(nodesGroup) ? name.slice(prefix.length) : undefined;
}
