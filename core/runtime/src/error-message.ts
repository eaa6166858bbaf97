import { isStatusError } from '@castellan/machinery';

/** What a thrown value says, for logs and messages; with the next step where one is known. */
export function errorMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const rule = isStatusError(error, 'Forbidden') ? missingRule(message) : undefined;
  return rule === undefined ? message : `${message}; ${rule}`;
}

/**
 * The rule that a refusal asks for. RBAC's words: `User "u" cannot list resource "pods" in API group "" at the cluster
 * scope`, or `… in the namespace "n"`.
 */
function missingRule(message: string): string | undefined {
  const found = /cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/.exec(message);
  if (found === null) return undefined;
  const [, verb = '', resource, group, namespace] = found;
  // A cache needs all three, and is refused the first it asks for.
  const verbs = ['list', 'watch'].includes(verb) ? '"get", "list", "watch"' : `"${verb}"`;
  const role =
    namespace === undefined ? 'its ClusterRole' : `its Role in the namespace ${namespace}, or its ClusterRole,`;
  return `add to ${role} the rule apiGroups: ["${group}"], resources: ["${resource}"], verbs: [${verbs}]`;
}
