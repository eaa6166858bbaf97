import type { KubernetesObject } from '../object.js';
import { apiVersionOf, type ResourceType } from '../resource-type.js';
import { loadEnginesFor } from '../rules/schema-rules.js';
import { type CompiledSchema, compileSchema } from '../schema/compile.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { StatusError } from '../status-error.js';
import { invalidError } from '../validation/field-error.js';
import { scaleSpecErrors } from '../validation/scale-rules.js';
import { deepFreeze } from '../value/deep-freeze.js';
import { isRecord } from '../value/record.js';
import { convertObject } from './convert-object.js';
import { definitionOf } from './custom-resource-definition.js';
import { definitionProblems, KindDefinitionError } from './definition-errors.js';
import type { Kind } from './kind.js';
import type { AnyDefinition, KindDefinition, NamedVersion } from './kind-definition.js';
import type { KindObject, WrittenObject } from './kind-object.js';
import { referencePage } from './reference-page.js';
import type { AnySchema } from './schema-builder.js';

/**
 * Defines a kind once: its CustomResourceDefinition, its TypeScript types (`ReadOf`, `WriteOf`), defaulting, validation and
 * reference page all come from the schema given here.
 *
 * @throws KindDefinitionError saying what is wrong and where, for a schema that an API server would refuse.
 */
export function defineKind<Spec extends AnySchema, Status extends AnySchema | undefined = undefined>(
  definition: KindDefinition<Spec, Status>,
): Kind<KindObject<Spec, Status>, WrittenObject<Spec, Status>, Readonly<Record<never, never>>> {
  return kindOf(definition, []);
}

/** The types follow from the definition alone, which is why the caller may say them. */
function kindOf<K extends ResourceType>(definition: AnyDefinition, older: readonly NamedVersion[]): K;
function kindOf(definition: AnyDefinition, older: readonly NamedVersion[]): Kind {
  const { group, version, kind, scale } = definition;
  const crd = definitionOf(definition, older);
  deepFreeze<unknown>(crd);
  refuse(kind, definitionProblems(crd));
  const schemaOf = (name: string): JsonSchema =>
    crd.spec.versions.find((each) => each.name === name)?.schema?.openAPIV3Schema ?? {};
  const schema = schemaOf(version);
  const typeOf = (name: string): ResourceType => ({
    group,
    version: name,
    kind,
    plural: crd.spec.names.plural,
    isNamespaced: crd.spec.scope === 'Namespaced',
  });
  const apiVersion = apiVersionOf(definition);

  let known: CompiledSchema | undefined;
  const compiled = () => {
    known ??= compileSchema(schema);
    return known;
  };
  let checked: Promise<void> | undefined;
  const check = () => {
    const schemas = crd.spec.versions.map(({ name }) => schemaOf(name));
    checked ??= Promise.all(schemas.map(loadEnginesFor)).then(() => refuse(kind, definitionProblems(crd)));
    return checked;
  };
  const applyDefaults = (object: KubernetesObject) => compiled().withDefaults(object);
  const validate = async (object: unknown, old?: unknown) => {
    await check();
    const errors = compiled().validate(object, old);
    return scale === undefined || !isObject(object) ? errors : [...errors, ...scaleSpecErrors(object, pathsOf(scale))];
  };
  return {
    ...typeOf(version),
    crd,
    versions: Object.fromEntries(older.map((each) => [each.version, typeOf(each.version)])),
    applyDefaults,
    make: (metadata, spec) => {
      const object = { apiVersion, kind, metadata, spec };
      return applyDefaults(object);
    },
    check,
    validate,
    parse: async (value) => {
      const object = applyDefaults(compiled().prune(objectOf(value, { apiVersion, kind })).value);
      const errors = await validate(object);
      if (errors.length > 0) throw invalidError({ group, kind }, object.metadata.name ?? '', errors);
      return object;
    },
    document: () => referencePage(crd),
    withVersion: (name, added) => kindOf(definition, [...older, { version: name, older: added }]),
    convert: (object, wanted) => convertObject(object, wanted, { group, hub: version, older, schemaOf }),
  };
}

function refuse(kind: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new KindDefinitionError(kind, problems);
}

function pathsOf({ specReplicasPath, statusReplicasPath }: NonNullable<AnyDefinition['scale']>) {
  const names = (path: string) => path.split('.').slice(1);
  return { specReplicas: names(specReplicasPath), statusReplicas: names(statusReplicasPath) };
}

/** @throws StatusError `BadRequest` */
function objectOf(value: unknown, wanted: { readonly apiVersion: string; readonly kind: string }): KubernetesObject {
  if (!isObject(value)) throw StatusError.of('BadRequest', 'not a Kubernetes object: it has no metadata');
  for (const field of ['apiVersion', 'kind'] as const) {
    if (value[field] === wanted[field]) continue;
    const shown = value[field] === undefined ? 'absent' : JSON.stringify(value[field]);
    throw StatusError.of('BadRequest', `${field} is ${shown}, where ${JSON.stringify(wanted[field])} is wanted`);
  }
  return value;
}

function isObject(value: unknown): value is KubernetesObject {
  return isRecord(value) && isRecord(value.metadata);
}
