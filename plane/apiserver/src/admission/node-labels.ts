/** Labels of Kubernetes' own that a node may give itself; all others of those domains are for the administrator. */
const own = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'node.kubernetes.io/windows-build',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
]);
const ownDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const restrictedDomain = 'node-restriction.kubernetes.io';
const kubernetesDomains = ['kubernetes.io', 'k8s.io'];

type Labels = Readonly<Record<string, string>>;

/** Those among the changed labels that a node must not change, sorted. */
export function forbiddenNodeLabels(now: Labels = {}, before: Labels = {}): readonly string[] {
  const keys = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...keys].filter((key) => now[key] !== before[key] && isForbidden(key)).sort();
}

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/');
  const domain = slash < 0 ? '' : label.slice(0, slash);
  if (isWithin(domain, restrictedDomain)) return true;
  if (!kubernetesDomains.some((each) => isWithin(domain, each))) return false;
  return !own.has(label) && !ownDomains.some((each) => isWithin(domain, each));
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
