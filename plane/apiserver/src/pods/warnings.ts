import { dns1123LabelErrors, formatQuantity, labelValueErrors, parseQuantity } from '@castellan/machinery';
import { type ApiObject, at, count, type JsonRecord, list, record, records, text } from '../json.js';
import { appArmorPrefix } from './annotation-rules.js';
import { containersOf } from './containers.js';
import { portWarnings } from './port-warnings.js';
import { volumeWarnings } from './volume-warnings.js';

/** What a client should hear of the template of pods at `path`; '' for that of a pod itself. */
export function podWarnings(template: JsonRecord, path: string): readonly string[] {
  const spec = record(template.spec);
  const annotations = record(record(template.metadata).annotations);
  const own = path === '' ? 'spec' : `${path}.spec`;
  const metadata = path === '' ? 'metadata' : `${path}.metadata`;
  const grace = count(spec.terminationGracePeriodSeconds) ?? 0;
  return [
    ...nodeLabelWarnings(spec, own),
    ...deprecatedAnnotations
      .filter(({ key }) => annotations[key] !== undefined)
      .map(({ key, words }) => `${metadata}.annotations[${key}]: ${words}`),
    ...volumeWarnings(spec, own),
    ...repeated(records(spec.hostAliases), 'ip', `${own}.hostAliases`),
    ...repeated(records(spec.imagePullSecrets), 'name', `${own}.imagePullSecrets`),
    ...records(spec.imagePullSecrets).flatMap(({ name }, index) =>
      (text(name) ?? '') === '' ? [`${own}.imagePullSecrets[${index}].name: invalid empty name ""`] : [],
    ),
    ...fractionWarnings(record(spec.overhead), `${own}.overhead`),
    ...(annotations[seccompPod] !== undefined && at(spec, 'securityContext', 'seccompProfile') === undefined
      ? [`${metadata}.annotations[${seccompPod}]: ${seccompWords}`]
      : []),
    ...containersOf(spec, own).flatMap(({ container, path: place }) => [
      ...confinementWarnings(container, spec, {
        annotations,
        path: `${metadata}.annotations`,
        isTemplate: path !== '',
      }),
      ...['limits', 'requests'].flatMap((kind) => fractionsOf(container, kind, 'memory', place)),
      ...['limits', 'requests'].flatMap((kind) => fractionsOf(container, kind, 'ephemeral-storage', place)),
      ...variableWarnings(container, `${place}.env`),
    ]),
    ...portWarnings(spec, own),
    ...(grace < 0
      ? [`${own}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
      : []),
    ...affinityWarnings(spec, own),
  ];
}

/** A name that becomes part of the names of hosts. */
export function hostNameWarnings({ metadata }: ApiObject, words: string): readonly string[] {
  const problems = dns1123LabelErrors(metadata.name ?? '');
  if (problems.length === 0) return [];
  const advice = 'which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: this is used in ${words}, ${advice}: [${problems.join(' ')}]`];
}

const deprecatedAnnotations = [
  {
    key: 'scheduler.alpha.kubernetes.io/critical-pod',
    words: 'non-functional in v1.16+; use the "priorityClassName" field instead',
  },
  {
    key: 'security.alpha.kubernetes.io/sysctls',
    words: 'non-functional in v1.11+; use the "sysctls" field instead',
  },
  {
    key: 'security.alpha.kubernetes.io/unsafe-sysctls',
    words: 'non-functional in v1.11+; use the "sysctls" field instead',
  },
];

const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/';
const seccompWords = 'non-functional in v1.27+; use the "seccompProfile" field instead';
export const appArmorWords = 'deprecated since v1.30; use the "appArmorProfile" field instead';

interface AnnotationPlace {
  readonly annotations: JsonRecord;
  readonly path: string;
  readonly isTemplate: boolean;
}

function confinementWarnings(
  container: JsonRecord,
  spec: JsonRecord,
  { annotations, path, isTemplate }: AnnotationPlace,
): readonly string[] {
  const name = text(container.name) ?? '';
  const [seccomp, appArmor] = [`${seccompContainer}${name}`, `${appArmorPrefix}${name}`];
  const context = record(container.securityContext);
  const hasAppArmor =
    context.appArmorProfile !== undefined || at(spec, 'securityContext', 'appArmorProfile') !== undefined;
  return [
    ...(annotations[seccomp] !== undefined && context.seccompProfile === undefined
      ? [`${path}[${seccomp}]: ${seccompWords}`]
      : []),
    ...(annotations[appArmor] !== undefined && isTemplate && !hasAppArmor
      ? [`${path}[${appArmor}]: ${appArmorWords}`]
      : []),
  ];
}

/** Labels of nodes that have other names now. */
const deprecatedLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};
const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
const noSelector = 'a null labelSelector results in matching no pod';

function deprecationOf(key: unknown): string | undefined {
  const label = text(key) ?? '';
  return Object.hasOwn(deprecatedLabels, label) ? deprecatedLabels[label] : undefined;
}

function nodeLabelWarnings(spec: JsonRecord, path: string): readonly string[] {
  const affinity = record(at(spec, 'affinity', 'nodeAffinity'));
  const place = `${path}.affinity.nodeAffinity`;
  return [
    ...Object.keys(record(spec.nodeSelector)).flatMap((key) => {
      const words = deprecationOf(key);
      return words === undefined ? [] : [`${path}.nodeSelector[${key}]: ${words}`];
    }),
    ...records(at(affinity, required, 'nodeSelectorTerms')).flatMap((term, index) =>
      termWarnings(term, `${place}.${required}.nodeSelectorTerms[${index}]`, false),
    ),
    ...records(affinity[preferred]).flatMap(({ preference }, index) =>
      termWarnings(record(preference), `${place}.${preferred}[${index}].preference`, true),
    ),
    ...records(spec.topologySpreadConstraints).flatMap(({ topologyKey, labelSelector }, index) => {
      const own = `${path}.topologySpreadConstraints[${index}]`;
      const words = deprecationOf(topologyKey);
      return [
        ...(words === undefined ? [] : [`${own}.topologyKey: ${text(topologyKey) ?? ''} is ${words}`]),
        ...(labelSelector === undefined ? [`${own}.labelSelector: ${noSelector}`] : []),
      ];
    }),
  ];
}

function termWarnings(term: JsonRecord, path: string, checksValues: boolean): readonly string[] {
  return records(term.matchExpressions).flatMap(({ key, values }, index) => {
    const own = `${path}.matchExpressions[${index}]`;
    const words = deprecationOf(key);
    return [
      ...(words === undefined ? [] : [`${own}.key: ${text(key) ?? ''} is ${words}`]),
      ...(checksValues ? list(values) : []).flatMap((value, position) => {
        const label = text(value) ?? '';
        return labelValueErrors(label).map((problem) => `${own}.values[${position}]: ${label} is invalid, ${problem}`);
      }),
    ];
  });
}

function affinityWarnings(spec: JsonRecord, path: string): readonly string[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const affinity = record(at(spec, 'affinity', kind));
    const own = `${path}.affinity.${kind}`;
    return [
      ...records(affinity[required]).flatMap(({ labelSelector }, index) =>
        labelSelector === undefined ? [`${own}.${required}[${index}].labelSelector: ${noSelector}`] : [],
      ),
      ...records(affinity[preferred]).flatMap(({ podAffinityTerm }, index) =>
        record(podAffinityTerm).labelSelector === undefined
          ? [`${own}.${preferred}[${index}].podAffinityTerm.labelSelector: ${noSelector}`]
          : [],
      ),
    ];
  });
}

function repeated(items: readonly JsonRecord[], field: string, path: string): readonly string[] {
  const values = items.map((item) => text(item[field]) ?? '');
  return values.flatMap((value, index) =>
    values.indexOf(value) < index ? [`${path}[${index}].${field}: duplicate ${field} ${JSON.stringify(value)}`] : [],
  );
}

const bytes = ['memory', 'ephemeral-storage'];

function fractionWarnings(amounts: JsonRecord, path: string): readonly string[] {
  return bytes.flatMap((name) => fraction(amounts[name], `${path}[${name}]`));
}

function fractionsOf(container: JsonRecord, kind: string, name: string, path: string): readonly string[] {
  return fraction(at(container, 'resources', kind, name), `${path}.resources.${kind}[${name}]`);
}

/** There is no half a byte. */
function fraction(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'string') return [];
  const amount = parseQuantity(value);
  if (amount.nano % 1_000_000_000n === 0n) return [];
  return [`${path}: fractional byte value ${JSON.stringify(formatQuantity(amount))} is invalid, must be an integer`];
}

/** A variable that takes the place of an earlier one, unless it builds on it. */
function variableWarnings(container: JsonRecord, path: string): readonly string[] {
  const names = new Set<string>();
  return records(container.env).flatMap(({ name, value, valueFrom }, index) => {
    const own = text(name) ?? '';
    const wasThere = names.has(own);
    names.add(own);
    const reference = `$(${own})`;
    const given = text(value) ?? '';
    const builds = valueFrom === undefined && given !== reference && given.includes(reference);
    if (!wasThere || builds) return [];
    return [
      `${path}[${index}]: hides previous definition of ${JSON.stringify(own)}, which may be dropped when using apply`,
    ];
  });
}
