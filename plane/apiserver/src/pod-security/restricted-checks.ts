import { at, type JsonRecord, list, records, text } from '../json.js';
import { isGoodSeccomp } from './baseline-checks.js';
import {
  hasOwnUsers,
  isWindows,
  named,
  namesWhere,
  type PodCheck,
  type PodShape,
  plural,
  quoted,
  security,
  setters,
  sortedSet,
  type Violation,
} from './pod-check.js';

type Find = (pod: PodShape) => Violation | undefined;

const butWindows =
  (find: Find): Find =>
  (pod) =>
    isWindows(pod) ? undefined : find(pod);
const butOwnUsers =
  (find: Find): Find =>
  (pod) =>
    hasOwnUsers(pod) ? undefined : find(pod);

/** Restricted: hardening by current good practice. */
export const restrictedChecks: readonly PodCheck[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 25, find: butWindows(allowPrivilegeEscalation) },
      { since: 8, find: allowPrivilegeEscalation },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    versions: [
      { since: 25, find: butWindows(capabilities) },
      { since: 22, find: capabilities },
    ],
    overrides: 'capabilities_baseline',
  },
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    versions: [{ since: 0, find: volumes }],
    overrides: 'hostPathVolumes',
  },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      { since: 35, find: butOwnUsers(runAsNonRoot) },
      { since: 0, find: runAsNonRoot },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      { since: 35, find: butOwnUsers(runAsUser) },
      { since: 23, find: runAsUser },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [
      { since: 25, find: butWindows(seccompProfile) },
      { since: 19, find: seccompProfile },
    ],
    overrides: 'seccompProfile_baseline',
  },
];

function allowPrivilegeEscalation(pod: PodShape): Violation | undefined {
  const bad = namesWhere(pod, (container) => security(container, 'allowPrivilegeEscalation') !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${named('container', bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
}

function capabilities(pod: PodShape): Violation | undefined {
  const forbidden: string[] = [];
  const keeping = namesWhere(pod, (container) => !list(security(container, 'capabilities', 'drop')).includes('ALL'));
  const adding = namesWhere(pod, (container) => {
    const added = list(security(container, 'capabilities', 'add')).map(String);
    const bad = added.filter((each) => each !== 'NET_BIND_SERVICE');
    forbidden.push(...bad);
    return bad.length > 0;
  });
  const told = quoted(sortedSet(forbidden));
  const details = [
    ...(keeping.length === 0
      ? []
      : [`${named('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [`${named('container', adding)} must not include ${told} in securityContext.capabilities.add`]),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

const freeVolumes: readonly string[] = [
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret'],
];
const namedVolumes: readonly string[] = [
  ...['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'nfs', 'iscsi', 'glusterfs', 'rbd'],
  ...['flexVolume', 'cinder', 'cephfs', 'flocker', 'fc', 'azureFile', 'vsphereVolume', 'quobyte', 'azureDisk'],
  ...['photonPersistentDisk', 'portworxVolume', 'scaleIO', 'storageos'],
];

function volumes({ spec }: PodShape): Violation | undefined {
  const has = (volume: JsonRecord) => (field: string) => volume[field] != null;
  const bad = records(spec.volumes).filter((volume) => !freeVolumes.some(has(volume)));
  if (bad.length === 0) return undefined;
  const names = bad.map(({ name }) => text(name) ?? '');
  const types = sortedSet(bad.map((volume) => namedVolumes.find(has(volume)) ?? 'unknown'));
  const verb = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'restricted volume types',
    detail: `${named('volume', names)} ${verb} ${plural('restricted volume type', types.length)} ${quoted(types)}`,
  };
}

function runAsNonRoot(pod: PodShape): Violation | undefined {
  const reason = 'runAsNonRoot != true';
  const ofPod = security(pod.spec, 'runAsNonRoot');
  const ofContainer = (container: JsonRecord) => security(container, 'runAsNonRoot');
  const who = setters(
    ofPod === false,
    namesWhere(pod, (container) => ofContainer(container) === false),
  );
  if (who !== undefined) return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  if (ofPod === true) return undefined;
  const silent = namesWhere(pod, (container) => ofContainer(container) === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${named('container', silent)} must set securityContext.runAsNonRoot=true` };
}

function runAsUser(pod: PodShape): Violation | undefined {
  const isRoot = (owner: JsonRecord) => security(owner, 'runAsUser') === 0;
  const who = setters(isRoot(pod.spec), namesWhere(pod, isRoot));
  return who === undefined ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
}

function seccompProfile(pod: PodShape): Violation | undefined {
  const reason = 'seccompProfile';
  const types: string[] = [];
  const profileOf = (owner: JsonRecord) => security(owner, 'seccompProfile');
  const isBad = (owner: JsonRecord) => {
    const profile = profileOf(owner);
    const type = at(profile, 'type');
    if (profile === undefined || isGoodSeccomp(type)) return false;
    types.push(text(type) ?? '');
    return true;
  };
  const who = setters(isBad(pod.spec), namesWhere(pod, isBad));
  if (who !== undefined) {
    const told = quoted(sortedSet(types));
    return { reason, detail: `${who} must not set securityContext.seccompProfile.type to ${told}` };
  }
  if (profileOf(pod.spec) !== undefined) return undefined;
  const silent = namesWhere(pod, (container) => profileOf(container) === undefined);
  if (silent.length === 0) return undefined;
  return {
    reason,
    detail: `pod or ${named('container', silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}
