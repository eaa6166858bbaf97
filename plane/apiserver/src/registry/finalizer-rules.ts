import { type FieldError, fieldError, qualifiedNameErrors } from '@castellan/machinery';

const path = 'metadata.finalizers';
const orphan = 'orphan';
const foreground = 'foregroundDeletion';
const standard: ReadonlySet<string> = new Set(['kubernetes', orphan, foreground]);

/** What is wrong with an object's finalizers. */
export function finalizerErrors(finalizers: readonly string[]): readonly FieldError[] {
  const errors = finalizers.flatMap((finalizer) =>
    qualifiedNameErrors(finalizer).map((problem) => fieldError.invalid(path, finalizer, problem)),
  );
  if (!finalizers.includes(orphan) || !finalizers.includes(foreground)) return errors;
  const problem = `finalizer ${orphan} and ${foreground} cannot be both set`;
  return [...errors, fieldError.invalid(path, finalizers, problem)];
}

/** Built-in kinds have finalizers of Kubernetes' own, or such as say whose they are. */
export function ownFinalizerErrors(finalizers: readonly string[], own = path): readonly FieldError[] {
  const problem = 'name is neither a standard finalizer name nor is it fully qualified';
  return finalizers.flatMap((finalizer, index) =>
    finalizer.includes('/') || standard.has(finalizer)
      ? []
      : [fieldError.invalid(`${own}[${index}]`, finalizer, problem)],
  );
}
