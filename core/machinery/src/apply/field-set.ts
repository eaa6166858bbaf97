import { isRecord, type JsonRecord, recordOf } from '../value/record.js';

/**
 * A set of places in an object, as a tree. The edges are path elements as FieldsV1 writes them: `f:spec` a field,
 * `k:{"name":"c"}` the list item with that key, `v:"a"` the item of a set, `i:0` the item at an index.
 */
export interface FieldSet {
  /** Whether this place itself is in the set; else only places below it are. */
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const emptySet: FieldSet = { isMember: false, children: new Map() };

/** The place itself, and nothing below it. */
export const leaf: FieldSet = { isMember: true, children: new Map() };

/** Most places are leaves: they share a map that stays empty. */
const noChildren = new Map<string, never>();

interface MutableFieldSet extends FieldSet {
  isMember: boolean;
  children: Map<string, MutableFieldSet>;
}

/** Gathers places one by one. */
export class FieldSetBuilder {
  readonly #root: MutableFieldSet = { isMember: false, children: noChildren };

  insert(path: readonly string[]): void {
    let node = this.#root;
    for (const element of path) {
      let child = node.children.get(element);
      if (child === undefined) {
        child = { isMember: false, children: noChildren };
        if (node.children === noChildren) node.children = new Map();
        node.children.set(element, child);
      }
      node = child;
    }
    node.isMember = true;
  }

  build(): FieldSet {
    return this.#root;
  }
}

/** The set of these places. */
export function setOf(paths: Iterable<readonly string[]>): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.insert(path);
  return builder.build();
}

export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.children.size === 0;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a)) return b;
  if (isEmptySet(b)) return a;
  const children = new Map(a.children);
  for (const [element, child] of b.children) children.set(element, union(children.get(element) ?? emptySet, child));
  return { isMember: a.isMember || b.isMember, children };
}

export function unionOf(sets: Iterable<FieldSet>): FieldSet {
  let result = emptySet;
  for (const set of sets) result = union(result, set);
  return result;
}

/** The places of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(b) ? a : combine(a, b, (inA, inB) => inA && !inB);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (inA, inB) => inA && inB);
}

function combine(a: FieldSet, b: FieldSet, keeps: (inA: boolean, inB: boolean) => boolean): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of a.children) {
    const combined = combine(child, b.children.get(element) ?? emptySet, keeps);
    if (!isEmptySet(combined)) children.set(element, combined);
  }
  return { isMember: keeps(a.isMember, b.isMember), children };
}

/** The places of `a` that are neither in `b` nor below a place of `b`. */
export function outside(a: FieldSet, b: FieldSet): FieldSet {
  if (b.isMember) return emptySet;
  if (b.children.size === 0) return a;
  const children = new Map<string, FieldSet>();
  for (const [element, child] of a.children) {
    const kept = outside(child, b.children.get(element) ?? emptySet);
    if (!isEmptySet(kept)) children.set(element, kept);
  }
  return { isMember: a.isMember, children };
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a.isMember !== b.isMember || a.children.size !== b.children.size) return false;
  for (const [element, child] of a.children) {
    const other = b.children.get(element);
    if (other === undefined || !equalSets(child, other)) return false;
  }
  return true;
}

/** All places, of each level first the places themselves and then those below, by name. */
export function pathsOf(set: FieldSet): readonly (readonly string[])[] {
  const elements = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  const here = elements.filter(([, child]) => child.isMember).map(([element]) => [element]);
  const below = elements.flatMap(([element, child]) => pathsOf(child).map((path) => [element, ...path]));
  return [...here, ...below];
}

/** The `fieldsV1` of a set. */
export function encodeFields(set: FieldSet): JsonRecord {
  if (set.children.size === 0) return {};
  const children = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  const fields = children.map(([element, child]) => [element, encodeFields(child)] as const);
  return recordOf(set.isMember ? [['.', {}], ...fields] : fields);
}

/** The set of a `fieldsV1`; what is not understood of it counts as nothing. */
export function decodeFields(fields: unknown): FieldSet {
  return isRecord(fields) ? { ...decodeNode(fields), isMember: Object.hasOwn(fields, '.') } : emptySet;
}

function decodeNode(node: JsonRecord): FieldSet {
  const entries = Object.entries(node);
  if (entries.length === 0) return leaf;
  const children = new Map<string, FieldSet>();
  for (const [element, child] of entries) {
    if (element !== '.' && isRecord(child)) children.set(element, decodeNode(child));
  }
  return { isMember: children.size === 0 || Object.hasOwn(node, '.'), children };
}
