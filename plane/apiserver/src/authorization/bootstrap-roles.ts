import type { ApiObject } from '../json.js';
import { controllerRoleTable } from './bootstrap-controller-table.js';
import {
  aggregatingRoles,
  aggregationLabels,
  clusterRoleBindingTable,
  clusterRoleTable,
  roleBindingTable,
  roleTable,
} from './bootstrap-role-table.js';
import { rbacGroup } from './role-based.js';

const apiVersion = `${rbacGroup}/v1`;
const defaultLabels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };

const verbSets: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
  all: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
};
const eventsRule = 'create patch update | core events.k8s.io | events';

export interface BootstrapObjects {
  readonly clusterRoles: readonly ApiObject[];
  readonly clusterRoleBindings: readonly ApiObject[];
  readonly roles: readonly ApiObject[];
  readonly roleBindings: readonly ApiObject[];
}

/** The roles and bindings that every cluster has from its start, as objects to be created. */
export function bootstrapObjects(): BootstrapObjects {
  const controllers = parseTable(controllerRoleTable);
  return {
    clusterRoles: [
      ...parseTable(clusterRoleTable).map(({ name, rules }) => clusterRole(name, { rules })),
      ...aggregatingRoles.map((name) => clusterRole(name, aggregation(name))),
      ...controllers.map(({ name, rules }) => clusterRole(`system:controller:${name}`, { rules })),
    ],
    clusterRoleBindings: [
      ...Object.entries(clusterRoleBindingTable).map(([name, subjects]) => binding('ClusterRole', name, subjects)),
      ...controllers.map(({ name }) =>
        binding('ClusterRole', `system:controller:${name}`, [`ServiceAccount kube-system/${name}`]),
      ),
    ],
    roles: parseTable(roleTable).map(({ name, rules }) => ({
      apiVersion,
      kind: 'Role',
      metadata: { ...placed(name), labels: defaultLabels, annotations },
      rules,
    })),
    roleBindings: Object.entries(roleBindingTable).map(([name, subjects]) => binding('Role', name, subjects)),
  };
}

function parseTable(table: string) {
  const roles: { readonly name: string; readonly rules: object[] }[] = [];
  for (const line of table.split('\n')) {
    if (line.startsWith('  ')) roles.at(-1)?.rules.push(parseRuleLine(line));
    else if (line !== '') roles.push({ name: line, rules: [] });
  }
  return roles;
}

function parseRuleLine(line: string): object {
  const text = line.trim() === 'events' ? eventsRule : line;
  const [verbs = [], first = [], resources, names] = text.split('|').map((part) => part.trim().split(' '));
  const rule = { verbs: verbs.flatMap((verb) => verbSets[verb] ?? [verb]) };
  if (resources === undefined) return { ...rule, nonResourceURLs: first };
  return {
    ...rule,
    apiGroups: first.map((group) => (group === 'core' ? '' : group)),
    resources,
    ...(names === undefined ? {} : { resourceNames: names }),
  };
}

function clusterRole(name: string, content: object): ApiObject {
  const target = aggregationLabels[name];
  const labels = target === undefined ? defaultLabels : { ...defaultLabels, [aggregationLabel(target)]: 'true' };
  return { apiVersion, kind: 'ClusterRole', metadata: { name, labels, annotations }, ...content };
}

function aggregation(name: string) {
  const matchLabels = { [aggregationLabel(name)]: 'true' };
  return { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] }, rules: null };
}

function aggregationLabel(role: string): string {
  return `${rbacGroup}/aggregate-to-${role}`;
}

function binding(kind: 'Role' | 'ClusterRole', name: string, subjects: readonly string[]): ApiObject {
  const place = placed(name);
  return {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { ...place, labels: defaultLabels, annotations },
    roleRef: { apiGroup: rbacGroup, kind, name: place.name },
    ...(subjects.length === 0 ? {} : { subjects: subjects.map(subjectOf) }),
  };
}

/** `namespace/name`, or a name at the cluster scope. */
function placed(name: string): { readonly name: string; readonly namespace?: string } {
  const slash = name.indexOf('/');
  return slash < 0 ? { name } : { namespace: name.slice(0, slash), name: name.slice(slash + 1) };
}

/** `Group NAME`, `User NAME` or `ServiceAccount NAMESPACE/NAME`. */
function subjectOf(subject: string): object {
  const [kind = '', name = ''] = subject.split(' ');
  return kind === 'ServiceAccount' ? { kind, ...placed(name) } : { kind, apiGroup: rbacGroup, name };
}
