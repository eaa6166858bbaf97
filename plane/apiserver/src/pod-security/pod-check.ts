import type { ObjectMeta } from '@castellan/machinery';
import { at, type JsonRecord, records, text } from '../json.js';

/** A pod, or the template of one. */
export interface PodShape {
  readonly metadata: ObjectMeta;
  readonly spec: JsonRecord;
}

/** What a check found: in a word, and with the names of what is to be changed. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** One rule of the Pod Security Standards, as it is from a version on. */
export interface PodCheck {
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** The minor version from which on the rule holds, and what it says then; newest first. */
  readonly versions: readonly { readonly since: number; readonly find: (pod: PodShape) => Violation | undefined }[];
  /** The looser rule that this one stands for. */
  readonly overrides?: string;
}

export interface NamedContainer {
  readonly name: string;
  readonly container: JsonRecord;
}

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** In the order in which upstream visits them. */
export function containersOf({ spec }: PodShape): readonly NamedContainer[] {
  return containerLists.flatMap((field) =>
    records(spec[field]).map((container) => ({ name: text(container.name) ?? '', container })),
  );
}

export function security(owner: JsonRecord, ...path: readonly string[]): unknown {
  return at(owner, 'securityContext', ...path) ?? undefined;
}

/** Names of the containers of which something is true. */
export function namesWhere(pod: PodShape, isSo: (container: JsonRecord) => boolean): readonly string[] {
  return containersOf(pod).flatMap(({ name, container }) => (isSo(container) ? [name] : []));
}

/** `container "a"`, `containers "a", "b"`. */
export function named(kind: string, names: readonly string[]): string {
  return `${plural(kind, names.length)} ${quoted(names)}`;
}

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

export function sortedSet(values: Iterable<string>): readonly string[] {
  return [...new Set(values)].sort();
}

/** `pod and container "a"`: who has set something; nothing when nobody has. */
export function setters(isPod: boolean, containers: readonly string[]): string | undefined {
  const who = [...(isPod ? ['pod'] : []), ...(containers.length > 0 ? [named('container', containers)] : [])];
  return who.length === 0 ? undefined : who.join(' and ');
}

/** Such a pod has users of its own, to which some rules do not apply. */
export function hasOwnUsers({ spec }: PodShape): boolean {
  return spec.hostUsers === false;
}

export function isWindows({ spec }: PodShape): boolean {
  return at(spec, 'os', 'name') === 'windows';
}
