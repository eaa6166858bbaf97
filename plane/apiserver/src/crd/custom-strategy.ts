import {
  type CompiledSchema,
  compileSchema,
  type FieldError,
  formatFieldError,
  type JsonSchema,
  loadEnginesFor,
  scaleSpecErrors,
  scaleStatusErrors,
} from '@castellan/machinery';
import { type ApiObject, isRecord } from '../json.js';
import type { ScalePaths } from '../registry/scale-paths.js';
import type { Strategy } from '../registry/strategy.js';

/** Defaulting, validation and pruning of custom resources by their schema, which is compiled when it is first needed. */
export function customStrategy(
  schema: unknown,
  scale?: ScalePaths,
): {
  readonly strategy: Strategy;
  readonly prune: (object: ApiObject) => { readonly object: ApiObject; readonly unknownFields: readonly string[] };
  readonly withDefaults: (object: ApiObject) => ApiObject;
} {
  let known: CompiledSchema | undefined;
  const compiled = () => {
    known ??= compileSchema(isSchema(schema) ? schema : preservesAll);
    return known;
  };
  const withDefaults = (object: ApiObject) => compiled().withDefaults(object);
  const checked = async () => {
    if (isSchema(schema)) await loadEnginesFor(schema);
    return compiled();
  };
  const told = (warn: ((warning: string) => void) | undefined) => (error: FieldError) =>
    warn?.(formatFieldError(error));
  return {
    withDefaults,
    strategy: {
      withDefaults,
      validate: async (object, current, warn) => [
        ...(await checked()).validate(object, current, told(warn)),
        ...(scale === undefined ? [] : scaleSpecErrors(object, scale)),
      ],
      validateStatus: async (object, current, warn) => [
        ...(await checked()).validateStatus(object, current, told(warn)),
        ...(scale === undefined ? [] : scaleStatusErrors(object, scale)),
      ],
    },
    prune: (object) => {
      const { value, droppedPaths } = compiled().prune(object);
      return { object: value, unknownFields: droppedPaths };
    },
  };
}

const preservesAll: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** An object: whether it is a good schema, `checkStructural` says. */
export function isSchema(value: unknown): value is JsonSchema {
  return isRecord(value);
}
