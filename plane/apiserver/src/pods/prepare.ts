import { deepEqual } from '@castellan/machinery';
import { type ApiObject, at, count, type JsonRecord, list, record, records, text } from '../json.js';
import type { WriteContext } from '../registry/strategy.js';
import { appArmorPrefix } from './annotation-rules.js';
import { withContainers } from './containers.js';
import { qosClassOf } from './quality-of-service.js';
import { appArmorErrors } from './security-rules.js';
import { appArmorWords } from './warnings.js';

/** A new pod as it is stored: what the server alone says of it, and what older ways of saying things mean. */
export function preparePod(pod: ApiObject, { warn }: WriteContext): ApiObject {
  const confined = withAppArmor(pod, (key) => warn?.(`metadata.annotations[${key}]: ${appArmorWords}`));
  const spec = withLabelKeys(record(confined.spec), record(pod.metadata.labels));
  const grace = count(spec.terminationGracePeriodSeconds) ?? 0;
  const gates = list(spec.schedulingGates).length > 0 ? { conditions: [gatedCondition] } : {};
  return {
    ...confined,
    spec: grace < 0 ? { ...spec, terminationGracePeriodSeconds: 1 } : spec,
    status: { phase: 'Pending', ...gates, qosClass: qosClassOf(pod) },
  };
}

const gatedCondition = {
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: null,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

/** A container's AppArmor profile is told both by a field and by the annotation that came before it. */
function withAppArmor(pod: ApiObject, deprecated: (annotation: string) => void): ApiObject {
  const spec = record(pod.spec);
  if (at(spec, 'os', 'name') === 'windows') return pod;
  const annotations: Record<string, string> = { ...pod.metadata.annotations };
  const ofPod = at(spec, 'securityContext', 'appArmorProfile');
  const next = withContainers(spec, (container) => {
    const key = `${appArmorPrefix}${text(container.name) ?? ''}`;
    const own = at(container, 'securityContext', 'appArmorProfile');
    const said = annotations[key];
    if (said === undefined) {
      const annotation = annotationOf(record(own ?? ofPod));
      if (annotation !== '') annotations[key] = annotation;
      return container;
    }
    const profile = profileOf(said);
    if (own !== undefined || (profile !== undefined && deepEqual(profile, ofPod))) return container;
    deprecated(key);
    if (profile === undefined) return container;
    return { ...container, securityContext: { ...record(container.securityContext), appArmorProfile: profile } };
  });
  if (Object.keys(annotations).length === 0) return pod;
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec: next };
}

function annotationOf({ type, localhostProfile }: JsonRecord): string {
  if (type === 'RuntimeDefault') return 'runtime/default';
  if (type === 'Unconfined') return 'unconfined';
  const profile = text(localhostProfile) ?? '';
  return type === 'Localhost' && profile !== '' ? `localhost/${profile}` : '';
}

/** What an annotation means, if it means anything. */
function profileOf(annotation: string): JsonRecord | undefined {
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (!annotation.startsWith('localhost/')) return undefined;
  const profile = { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) };
  return appArmorErrors(profile, '').length === 0 ? profile : undefined;
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Terms that name labels of the pod itself select by the values that it has. Sources: KEP-3633, KEP-3243. */
function withLabelKeys(spec: JsonRecord, labels: JsonRecord): JsonRecord {
  const affinity = record(spec.affinity);
  const kinds = ['podAffinity', 'podAntiAffinity'].filter((kind) => affinity[kind] !== undefined);
  const spreads = spec.topologySpreadConstraints;
  return {
    ...spec,
    ...(kinds.length === 0
      ? {}
      : {
          affinity: {
            ...affinity,
            ...Object.fromEntries(kinds.map((kind) => [kind, withAffinityKeys(record(affinity[kind]), labels)])),
          },
        }),
    ...(spreads === undefined
      ? {}
      : { topologySpreadConstraints: records(spreads).map((spread) => withTermKeys(spread, labels)) }),
  };
}

function withAffinityKeys(affinity: JsonRecord, labels: JsonRecord): JsonRecord {
  return {
    ...affinity,
    ...(affinity[required] === undefined
      ? {}
      : { [required]: records(affinity[required]).map((term) => withTermKeys(term, labels)) }),
    ...(affinity[preferred] === undefined
      ? {}
      : {
          [preferred]: records(affinity[preferred]).map((each) => ({
            ...each,
            podAffinityTerm: withTermKeys(record(each.podAffinityTerm), labels),
          })),
        }),
  };
}

function withTermKeys(term: JsonRecord, labels: JsonRecord): JsonRecord {
  const selector = record(term.labelSelector);
  const expressions = [
    ...expressionsOf(term.matchLabelKeys, 'In', labels),
    ...expressionsOf(term.mismatchLabelKeys, 'NotIn', labels),
  ];
  if (term.labelSelector === undefined || expressions.length === 0) return term;
  return {
    ...term,
    labelSelector: { ...selector, matchExpressions: [...list(selector.matchExpressions), ...expressions] },
  };
}

function expressionsOf(keys: unknown, operator: string, labels: JsonRecord): readonly JsonRecord[] {
  return list(keys).flatMap((key) => {
    const value = labels[text(key) ?? ''];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}
