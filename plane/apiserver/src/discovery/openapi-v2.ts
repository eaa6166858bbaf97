import { isRecord } from '../json.js';
import type { ApiDescription } from './openapi-document.js';
import type { Operation, TypeReference } from './openapi-operations.js';
import { type Parameter, parametersOf } from './openapi-parameters.js';
import type { PathItem } from './openapi-paths.js';
import { statusTexts } from './openapi-v3.js';

type Json = Readonly<Record<string, unknown>>;

/** An API in the form of OpenAPI 2.0 (Swagger), which says less: choices and defaults of schemas are left out. */
export function openApiV2(api: ApiDescription) {
  return {
    swagger: '2.0',
    info: { title: api.title, version: api.version },
    paths: Object.fromEntries(api.paths.map((item) => [item.path, pathV2(item, api)])),
    definitions: Object.fromEntries(
      Object.entries(api.schemas).map(([name, schema]) => [name, plainTypes[name] ?? schemaV2(schema)]),
    ),
    securityDefinitions: {
      BearerToken: {
        description: 'Bearer Token authentication',
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
      },
    },
    security: [{ BearerToken: [] }],
  };
}

/** Types of which version 2 cannot say that they are texts or numbers. */
const plainTypes: Readonly<Record<string, Json>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: 'string', format: 'int-or-string' },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: 'string' },
};

function pathV2({ operations }: PathItem, api: ApiDescription): Json {
  const { common, own } = parametersOf(operations, api.descriptions);
  return {
    ...Object.fromEntries(
      operations.map((operation, index) => [operation.method, operationV2(operation, own[index] ?? [], api)]),
    ),
    ...(common.length === 0 ? {} : { parameters: common.map(parameterV2) }),
  };
}

function operationV2(operation: Operation, own: readonly Parameter[], api: ApiDescription): Json {
  const { tag, description, id, body, responses, produces, action, kind } = operation;
  const schemaOf = (type: TypeReference | undefined) =>
    type === undefined ? { type: 'string' } : { $ref: `#/definitions/${api.nameOf(type)}` };
  const bodyParameter =
    body === undefined
      ? []
      : [{ name: 'body', in: 'body', ...(body.isRequired ? { required: true } : {}), schema: schemaOf(body.type) }];
  const parameters = [...bodyParameter, ...own.map(parameterV2)];
  return {
    description,
    consumes: body?.consumes ?? ['*/*'],
    produces,
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      ...Object.fromEntries(
        responses.map(({ status, type }) => [status, { description: statusTexts[status], schema: schemaOf(type) }]),
      ),
      '401': { description: 'Unauthorized' },
    },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': kind }),
  };
}

function parameterV2({ name, in: place, type, description }: Parameter): Json {
  return {
    uniqueItems: true,
    type,
    description,
    name,
    in: place,
    ...(place === 'path' ? { required: true } : {}),
  };
}

const unsaid = new Set(['oneOf', 'anyOf', 'not', 'nullable', 'default']);

function schemaV2(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(schemaV2);
  if (!isRecord(schema)) return schema;
  const { allOf, ...rest } = schema;
  const [only] = Array.isArray(allOf) && allOf.length === 1 ? allOf : [];
  const whole = isRecord(only) && typeof only.$ref === 'string' ? { ...rest, ...only } : rest;
  return Object.fromEntries(Object.entries(whole).flatMap(memberV2));
}

function memberV2([name, value]: readonly [string, unknown]): readonly (readonly [string, unknown])[] {
  if (unsaid.has(name)) return [];
  if (name === '$ref') return [[name, String(value).replace('#/components/schemas/', '#/definitions/')]];
  // Names of properties are not keywords.
  if (name === 'properties' && isRecord(value)) {
    return [[name, Object.fromEntries(Object.entries(value).map(([key, property]) => [key, schemaV2(property)]))]];
  }
  if (name === 'items' || name === 'additionalProperties') return [[name, schemaV2(value)]];
  return [[name, value]];
}
