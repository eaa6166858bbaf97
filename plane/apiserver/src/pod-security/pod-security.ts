import { invalidError } from '@castellan/machinery';
import type { AdmissionContext, AdmissionPlugin } from '../admission/admission-plugin.js';
import { forbidden } from '../errors.js';
import { type ApiObject, asApiObject, at, type JsonRecord, record, records, text } from '../json.js';
import type { AdmissionWrite } from '../registry/admission-control.js';
import { storageKey } from '../storage/keys.js';
import { detailsOf, reasonsOf, violationsOf } from './evaluate.js';
import type { PodShape } from './pod-check.js';
import {
  formatLevel,
  isStricter,
  type LevelVersion,
  type PodSecurityPolicy,
  policyOfLabels,
} from './policy-of-labels.js';

/** Where the pod template of a kind is. */
const templates: Readonly<Record<string, readonly string[]>> = {
  '/podtemplates': ['template'],
  '/replicationcontrollers': ['spec', 'template'],
  'apps/replicasets': ['spec', 'template'],
  'apps/deployments': ['spec', 'template'],
  'apps/statefulsets': ['spec', 'template'],
  'apps/daemonsets': ['spec', 'template'],
  'batch/jobs': ['spec', 'template'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
};
/** Writes of pods by other ways that do not change what they run. */
const harmlessSubresources: readonly string[] = ['binding', 'eviction', 'status'];
/** Of a namespace that gets stricter. */
const mostPodsChecked = 3000;

/**
 * PodSecurity: a namespace's labels say which level of the Pod Security Standards is enforced upon its pods, and of which
 * one is warned. Templates are only warned of: their pods are judged when they come.
 */
export const podSecurity: AdmissionPlugin = {
  handles: ({ definition: { group, plural }, operation }) =>
    operation !== 'DELETE' &&
    ((group === '' && (plural === 'pods' || plural === 'namespaces')) ||
      Object.hasOwn(templates, `${group}/${plural}`)),
  async validate(write, context) {
    const { definition, object, subresource } = write;
    if (object === undefined) return;
    if (definition.group === '' && definition.plural === 'namespaces') {
      if (subresource === '') await judgeNamespace(write, object, context);
    } else if (definition.group === '' && definition.plural === 'pods') {
      if (!harmlessSubresources.includes(subresource)) await judgePod(write, object, context);
    } else if (subresource === '') {
      await judgeTemplate(write, object, context);
    }
  },
};

async function judgePod(write: AdmissionWrite, pod: ApiObject, context: AdmissionContext): Promise<void> {
  const policy = await policyOf(write, context);
  if (policy === undefined) return;
  if (write.current !== undefined && !isSignificant(pod, write.current)) return;
  const shape = { metadata: pod.metadata, spec: record(pod.spec) };
  const problems = violationsOf(shape, policy.enforce);
  if (problems.length > 0) {
    const message = `violates PodSecurity "${formatLevel(policy.enforce)}": ${detailsOf(problems)}`;
    throw forbidden(write.definition, write.name, message);
  }
  warn(shape, policy, context);
}

async function judgeTemplate(write: AdmissionWrite, object: ApiObject, context: AdmissionContext): Promise<void> {
  const { group, plural } = write.definition;
  const template = at(object, ...(templates[`${group}/${plural}`] ?? [])) ?? undefined;
  if (template === undefined) return;
  const policy = await policyOf(write, context);
  if (policy === undefined) return;
  const { metadata, spec } = asApiObject(record(template));
  warn({ metadata, spec: record(spec) }, policy, context);
}

function warn(pod: PodShape, { warn: level }: PodSecurityPolicy, context: AdmissionContext): void {
  const problems = violationsOf(pod, level);
  if (problems.length > 0) context.warn(`would violate PodSecurity "${formatLevel(level)}": ${detailsOf(problems)}`);
}

/** Nothing for a namespace that asks nothing, as most do. */
async function policyOf(
  { namespace }: AdmissionWrite,
  { server }: AdmissionContext,
): Promise<PodSecurityPolicy | undefined> {
  const { store } = server.registry.builtin('', 'v1', 'namespaces');
  const found = await store.storage.get(storageKey(store.layout, { name: namespace ?? '' }));
  const policy = policyOfLabels(found?.metadata.labels);
  return policy.enforce.level === 'privileged' && policy.warn.level === 'privileged' ? undefined : policy;
}

/** Of a pod that is there already, only what it runs is judged anew. */
function isSignificant(pod: ApiObject, before: ApiObject): boolean {
  return (['containers', 'initContainers', 'ephemeralContainers'] as const).some((field) => {
    const now = records(at(pod, 'spec', field));
    const then = records(at(before, 'spec', field));
    const imageThen = (container: JsonRecord, index: number) =>
      (field === 'ephemeralContainers' ? then.find(({ name }) => name === container.name) : then[index])?.image;
    const isOther = (container: JsonRecord, index: number) => container.image !== imageThen(container, index);
    return (field !== 'ephemeralContainers' && now.length !== then.length) || now.some(isOther);
  });
}

async function judgeNamespace(
  { definition, current, name }: AdmissionWrite,
  { metadata }: ApiObject,
  context: AdmissionContext,
): Promise<void> {
  const policy = policyOfLabels(metadata.labels);
  const before = current === undefined ? undefined : policyOfLabels(current.metadata.labels);
  // What was wrong before stays as it is; it does not keep other changes out.
  const isNews = JSON.stringify(policy.errors) !== JSON.stringify(before?.errors);
  if (policy.errors.length > 0 && isNews) throw invalidError(definition, name, policy.errors);
  if (before === undefined) return;
  const { enforce } = policy;
  const isSameVersion = enforce.minor === before.enforce.minor;
  if (enforce.level === 'privileged' || (isSameVersion && !isStricter(enforce.level, before.enforce.level))) return;
  for (const warning of await warningsOfPods(name, enforce, context)) context.warn(warning);
}

/** What the pods that are there would have to change, those with the same faults in one line. */
async function warningsOfPods(
  namespace: string,
  level: LevelVersion,
  { server }: AdmissionContext,
): Promise<readonly string[]> {
  const { store } = server.registry.builtin('', 'v1', 'pods');
  await store.cache.fresh();
  const pods = store.cache.list(`${store.layout.prefix}${namespace}/`).map(({ object }) => object);
  const byFault = new Map<string, string[]>();
  for (const { metadata, spec } of pods.slice(0, mostPodsChecked)) {
    const problems = violationsOf({ metadata, spec: record(spec) }, level);
    if (problems.length === 0) continue;
    const fault = reasonsOf(problems);
    byFault.set(fault, [...(byFault.get(fault) ?? []), text(metadata.name) ?? '']);
  }
  const lines = [...byFault].map(([fault, names]) => `${[...names].sort()[0]}${others(names.length - 1)}: ${fault}`);
  const told = `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${formatLevel(level)}"`;
  return [
    ...(pods.length > mostPodsChecked
      ? [
          `new PodSecurity enforce level only checked against the first ${mostPodsChecked} of ${pods.length} existing pods`,
        ]
      : []),
    ...(lines.length === 0 ? [] : [told]),
    ...lines.sort(),
  ];
}

function others(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ' (and 1 other pod)' : ` (and ${count} other pods)`;
}
