import { type LabelSelectorObject, labelSelectorOf, matchesLabels, type ObjectMeta } from '@castellan/machinery';
import { at, type JsonRecord, list, record, records, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { Server } from '../request/server.js';
import { storageKey } from '../storage/keys.js';

/** What webhooks and policies have in common: of which writes they want to hear. */
export interface MatchRules {
  /** `Exact`: not of writes of the same objects in a version that the rules do not name. */
  readonly matchPolicy: unknown;
  readonly rules: readonly JsonRecord[];
  readonly excludedRules: readonly JsonRecord[];
  readonly namespaceSelector: unknown;
  readonly objectSelector: unknown;
}

/** Kinds that decide over admission: nobody may lock himself out of repairing them. */
const exemptKinds: readonly string[] = [
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
];

/**
 * The version in which the rules name what is written: its own, else an equivalent one. `undefined`: they do not concern
 * it.
 */
export async function matchedDefinition(
  match: MatchRules,
  write: AdmissionWrite,
  server: Server,
): Promise<ResourceDefinition | undefined> {
  const { group, plural } = write.definition;
  if (group === 'admissionregistration.k8s.io' && exemptKinds.includes(plural)) return undefined;
  const definition = await namedBy(match.rules, match, write, server);
  if (definition === undefined) return undefined;
  if ((await namedBy(match.excludedRules, match, write, server)) !== undefined) return undefined;
  const metadata = [write.object?.metadata, write.current?.metadata].filter((each) => each !== undefined);
  if (!metadata.some((each) => selects(match.objectSelector, each.labels))) return undefined;
  return (await isNamespaceMatch(match.namespaceSelector, write, { server, metadata })) ? definition : undefined;
}

async function namedBy(
  rules: readonly JsonRecord[],
  { matchPolicy }: MatchRules,
  write: AdmissionWrite,
  server: Server,
): Promise<ResourceDefinition | undefined> {
  const isNamed = (definition: ResourceDefinition) => rules.some((rule) => ruleMatches(rule, { ...write, definition }));
  if (rules.length === 0 || isNamed(write.definition)) return rules.length === 0 ? undefined : write.definition;
  if (matchPolicy === 'Exact') return undefined;
  return (await server.registry.equivalentsOf(write.definition)).find(isNamed);
}

/** Objects of the cluster are in no namespace and always match; a namespace is matched by its own labels. */
async function isNamespaceMatch(
  selector: unknown,
  { namespace, definition }: AdmissionWrite,
  { server, metadata }: { readonly server: Server; readonly metadata: readonly ObjectMeta[] },
): Promise<boolean> {
  if (Object.keys(record(selector)).length === 0) return true;
  if (definition.group === '' && definition.plural === 'namespaces') return selects(selector, metadata[0]?.labels);
  if (namespace === undefined) return true;
  const { store } = server.registry.builtin('', 'v1', 'namespaces');
  const found = await store.storage.get(storageKey(store.layout, { name: namespace }));
  return selects(selector, found?.metadata.labels);
}

function ruleMatches(
  rule: JsonRecord,
  { operation, definition, subresource, name, namespace }: AdmissionWrite,
): boolean {
  const has = (field: string, value: string) => {
    const values = list(rule[field]);
    return values.includes('*') || values.includes(value);
  };
  const scope = text(rule.scope) ?? '*';
  const names = list(rule.resourceNames);
  return (
    has('operations', operation) &&
    has('apiGroups', definition.group) &&
    has('apiVersions', definition.version) &&
    list(rule.resources).some((resource) => resourceMatches(String(resource), definition.plural, subresource)) &&
    (names.length === 0 || names.includes(name)) &&
    (scope === '*' || (scope === 'Namespaced') === (namespace !== undefined))
  );
}

/** `*` is every resource but no subresource, `*` + `/*` every one with them, `pods/*` pods and what is below them. */
function resourceMatches(rule: string, plural: string, subresource: string): boolean {
  const [resource = '', sub] = rule.split('/');
  if (resource !== '*' && resource !== plural) return false;
  if (sub === '*') return true;
  return (sub ?? '') === subresource;
}

function selects(selector: unknown, labels: Readonly<Record<string, string>> | undefined): boolean {
  return matchesLabels(labelSelectorIn(selector), labels);
}

/** A metav1.LabelSelector of a spec that validation has let through. */
export function labelSelectorIn(selector: unknown) {
  return labelSelectorOf(selectorOf(selector));
}

function selectorOf(selector: unknown): LabelSelectorObject {
  const texts = (value: unknown) => list(value).flatMap((each) => text(each) ?? []);
  const labels = Object.entries(record(at(selector, 'matchLabels')));
  return {
    matchLabels: Object.fromEntries(labels.map(([key, value]) => [key, String(value)])),
    matchExpressions: records(at(selector, 'matchExpressions')).map((expression) => ({
      key: text(expression.key) ?? '',
      operator: text(expression.operator) ?? '',
      values: texts(expression.values),
    })),
  };
}
