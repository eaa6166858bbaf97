import { canonicalJson, isRecord, type KubernetesObject } from '@castellan/machinery';
import type { TestCluster } from '../cluster/test-cluster.js';
import type { OperatorScenario } from './operator-scenario.js';

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const address = /\b\d+\.\d+\.\d+\.\d+\b/g;
/** The API server names the volume of a pod's token at random. */
const tokenVolume = /kube-api-access-[a-z0-9]{5}/g;
const shownObjects = 3;
const shownCharacters = 200;
/** What every write changes. */
const serverFields = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink'];
const anyStatus = ['observedGeneration', 'lastTransitionTime', 'lastHeartbeatTime', 'startTime'];

/**
 * The objects that matter, without what differs between any two runs: identities, times, addresses, and names that are not
 * in `stableNames`. One line for each, in order.
 */
export function outcomeOf(
  cluster: TestCluster,
  scenario: OperatorScenario,
  stableNames: ReadonlySet<string> | undefined,
): readonly string[] {
  const found = scenario.outcome.flatMap((type) =>
    cluster.state.list(type).map((object) => ({ kind: type.kind, object })),
  );
  const random =
    stableNames === undefined
      ? []
      : found
          .map(({ kind, object }) => ({ kind, name: object.metadata.name ?? '' }))
          .filter(({ name }) => !stableNames.has(name))
          .sort((one, other) => other.name.length - one.name.length);
  const lines = found.map(({ kind, object }) => {
    let text = `${kind} ${canonicalJson(stripped(object, scenario.mayDiffer?.[kind] ?? []))}`;
    text = text
      .replace(uid, '<uid>')
      .replace(time, '<time>')
      .replace(address, '<address>')
      .replace(tokenVolume, '<token>');
    for (const { kind: ownKind, name } of random) text = text.replaceAll(name, `<${ownKind}>`);
    return text;
  });
  return lines.sort();
}

/** Names of the objects that matter. */
export function namesIn(cluster: TestCluster, scenario: OperatorScenario): ReadonlySet<string> {
  return new Set(
    scenario.outcome.flatMap((type) => cluster.state.list(type).map(({ metadata }) => metadata.name ?? '')),
  );
}

/** What one has and the other lacks, cut to where they differ; empty where they are equal. */
export function difference(actual: readonly string[], wanted: readonly string[]): string {
  const extra = without(actual, wanted);
  const missing = without(wanted, actual);
  const from = sharedLength(extra[0] ?? '', missing[0] ?? '');
  return [
    ...extra.slice(0, shownObjects).map((line) => `  there is     ${excerpt(line, from)}`),
    ...missing.slice(0, shownObjects).map((line) => `  there is not ${excerpt(line, from)}`),
  ].join('\n');
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

function excerpt(line: string, from: number): string {
  const begin = Math.max(0, from - 60);
  const end = begin + shownCharacters;
  const kind = begin === 0 ? '' : `${line.slice(0, line.indexOf(' '))} …`;
  return `${kind}${line.slice(begin, end)}${end < line.length ? '…' : ''}`;
}

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return lines.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function stripped(object: KubernetesObject, mayDiffer: readonly string[]): unknown {
  const dropped = [...serverFields.map((name) => `metadata.${name}`), ...mayDiffer];
  return withoutPaths(object, '', dropped);
}

function withoutPaths(value: unknown, path: string, dropped: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutPaths(each, path, dropped));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const memberPath = path === '' ? name : `${path}.${name}`;
    if (dropped.includes(memberPath) || anyStatus.includes(name)) return [];
    return [[name, withoutPaths(member, memberPath, dropped)] as const];
  });
  return Object.fromEntries(members);
}
