import type { KubernetesObject, ObjectMeta } from '@castellan/machinery';

/** What every cached object keeps of its metadata, whatever was picked: who it is, whose it is, and that it is going. */
export const identityFields = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'finalizers',
  'ownerReferences',
] as const satisfies readonly (keyof ObjectMeta)[];

type Identity = Pick<ObjectMeta, (typeof identityFields)[number]>;

/**
 * `Path` where it names a field of `T`, else the names that would do in its place, for the compiler's message and the
 * editor's completion. `a.b` is field b of a, `a[].b` field b of each item of a; maps (labels, data) are picked whole.
 */
export type CheckedPath<
  T,
  Path extends string,
  Before extends string = '',
> = Path extends `${infer First}.${infer Rest}`
  ? First extends `${infer Name}[]`
    ? Name extends keyof T
      ? NonNullable<T[Name]> extends readonly (infer Item)[]
        ? CheckedPath<Item, Rest, `${Before}${First}.`>
        : Suggested<T, Before>
      : Suggested<T, Before>
    : First extends keyof T
      ? HasFields<NonNullable<T[First]>> extends true
        ? CheckedPath<NonNullable<T[First]>, Rest, `${Before}${First}.`>
        : Suggested<T, Before>
      : Suggested<T, Before>
  : Path extends keyof T & string
    ? `${Before}${Path}`
    : Suggested<T, Before>;

type Suggested<T, Before extends string> = `${Before}${keyof T & string}`;

type HasFields<T> = T extends readonly unknown[]
  ? false
  : T extends object
    ? string extends keyof T
      ? false
      : true
    : false;

/** `T` with the fields that `Path` names and nothing else, but for `apiVersion`, `kind` and the identity in `metadata`. */
export type Picked<T extends KubernetesObject, Path extends string> = Pick<KubernetesObject, 'apiVersion' | 'kind'> & {
  readonly metadata: 'metadata' extends Path
    ? T['metadata']
    : Identity & PickedFields<T['metadata'], Below<Path, 'metadata'>>;
} & PickedFields<Omit<T, keyof KubernetesObject>, Path>;

type PickedFields<T, Path extends string> = {
  readonly [Name in keyof T as Name extends FirstOf<Path> ? Name : never]: Name extends Path
    ? T[Name]
    : Name extends string
      ? PickedValue<T[Name], Below<Path, Name>>
      : never;
};

type PickedValue<Value, Path extends string> = Value extends readonly (infer Item)[]
  ? readonly PickedValue<Item, Path>[]
  : Value extends object
    ? PickedFields<Value, Path>
    : Value;

type FirstOf<Path extends string> = Path extends `${infer First}.${string}` ? NameOf<First> : Path;

type NameOf<Part extends string> = Part extends `${infer Name}[]` ? Name : Part;

/** The rest of the paths that begin with `Name` and go on. */
type Below<Path extends string, Name extends string> = Path extends `${Name}.${infer Rest}`
  ? Rest
  : Path extends `${Name}[].${infer Rest}`
    ? Rest
    : never;
