import { forbidden } from '../errors.js';
import { at, count, record, records, text, withAt } from '../json.js';
import type { AdmissionChange } from '../registry/admission-control.js';
import { storageKey } from '../storage/keys.js';
import { type AdmissionContext, type AdmissionPlugin, isCreateOf } from './admission-plugin.js';

const isPodCreate: AdmissionPlugin['handles'] = (write) => isCreateOf(write, '', 'pods');
const tolerationSeconds = 300;

/** DefaultTolerationSeconds: pods outlive a node that is away for five minutes. */
export const defaultTolerations: AdmissionPlugin = {
  handles: isPodCreate,
  mutate({ object }) {
    const own = records(at(object, 'spec', 'tolerations'));
    const added = ['not-ready', 'unreachable']
      .map((condition) => `node.kubernetes.io/${condition}`)
      .filter((key) => !own.some((toleration) => tolerates(toleration, key)))
      .map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }));
    if (added.length === 0) return object;
    return { ...object, spec: withAt(object.spec, ['tolerations'], [...own, ...added]) };
  },
};

function tolerates(toleration: unknown, taint: string): boolean {
  const key = text(at(toleration, 'key')) ?? '';
  const effect = text(at(toleration, 'effect')) ?? '';
  return (key === '' || key === taint) && (effect === '' || effect === 'NoExecute');
}

/** The two classes that every cluster has. */
export const systemPriorityClasses = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
] as const;

/** Priority: the number of a pod's class. */
export const priority: AdmissionPlugin = {
  handles: isPodCreate,
  async mutate(write, context) {
    const { object } = write;
    const found = await priorityClassOf(write, context);
    const value = count(found?.value) ?? 0;
    const asked = at(object, 'spec', 'priority');
    if (asked !== undefined && asked !== value) {
      const problem = `the integer value of priority (${String(asked)}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
      throw forbidden(write.definition, write.name, problem);
    }
    const policy =
      text(at(object, 'spec', 'preemptionPolicy')) ?? text(found?.preemptionPolicy) ?? 'PreemptLowerPriority';
    const name = text(at(object, 'spec', 'priorityClassName')) || found?.name;
    const spec = {
      ...record(object.spec),
      ...(name === undefined ? {} : { priorityClassName: name }),
      priority: value,
      preemptionPolicy: policy,
    };
    return { ...object, spec };
  },
};

interface PriorityClass {
  readonly name: string;
  readonly value: unknown;
  readonly preemptionPolicy?: unknown;
}

/** The class that the pod names, else the default one, if there is one. */
async function priorityClassOf(
  { object, definition, name }: AdmissionChange,
  { server }: AdmissionContext,
): Promise<PriorityClass | undefined> {
  const wanted = text(at(object, 'spec', 'priorityClassName')) ?? '';
  const system = systemPriorityClasses.find((each) => each.name === wanted);
  if (system !== undefined) return system;
  const classes = await server.registry.find({ group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses' });
  if (classes === undefined) return undefined;
  const { store } = classes;
  if (wanted !== '') {
    const found = await store.storage.get(storageKey(store.layout, { name: wanted }));
    if (found === undefined) throw forbidden(definition, name, `no PriorityClass with name ${wanted} was found`);
    return { ...found, name: wanted, value: found.value };
  }
  await store.cache.reach(0);
  const defaults = store.cache
    .list(store.layout.prefix)
    .map((entry) => entry.object)
    .filter((each) => each.globalDefault === true)
    .sort((left, right) => (count(left.value) ?? 0) - (count(right.value) ?? 0));
  const [lowest] = defaults;
  return lowest === undefined ? undefined : { ...lowest, name: lowest.metadata.name ?? '', value: lowest.value };
}
