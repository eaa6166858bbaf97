import type { ApiDescription } from './openapi-document.js';
import type { Operation } from './openapi-operations.js';
import { type Parameter, parametersOf } from './openapi-parameters.js';
import type { PathItem } from './openapi-paths.js';

/** An API in the form of OpenAPI 3.0. */
export function openApiV3(api: ApiDescription) {
  return {
    openapi: '3.0.0',
    info: { title: api.title, version: api.version },
    paths: Object.fromEntries(api.paths.map((item) => [item.path, pathV3(item, api)])),
    components: {
      schemas: api.schemas,
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          description: 'Bearer Token authentication',
          name: 'authorization',
          in: 'header',
        },
      },
    },
  };
}

function pathV3({ operations }: PathItem, api: ApiDescription) {
  const { common, own } = parametersOf(operations, api.descriptions);
  return {
    ...Object.fromEntries(
      operations.map((operation, index) => [operation.method, operationV3(operation, own[index] ?? [], api)]),
    ),
    ...(common.length === 0 ? {} : { parameters: common.map(parameterV3) }),
  };
}

function operationV3(operation: Operation, own: readonly Parameter[], api: ApiDescription) {
  const { tag, description, id, body, responses, produces, action, kind } = operation;
  const content = (types: readonly string[], schema: unknown) =>
    Object.fromEntries([...types].sort().map((type) => [type, { schema }]));
  const schemaOf = (type: Parameters<typeof api.nameOf>[0] | undefined) =>
    type === undefined ? { type: 'string' } : { $ref: `#/components/schemas/${api.nameOf(type)}` };
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(own.length === 0 ? {} : { parameters: own.map(parameterV3) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: content(body.consumes, schemaOf(body.type)),
            ...(body.isRequired ? { required: true } : {}),
          },
        }),
    responses: {
      ...Object.fromEntries(
        responses.map(({ status, type }) => [
          status,
          { description: statusTexts[status], content: content(produces, schemaOf(type)) },
        ]),
      ),
      '401': { description: 'Unauthorized' },
    },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': kind }),
  };
}

export const statusTexts = { 200: 'OK', 201: 'Created', 202: 'Accepted' } as const;

function parameterV3({ name, in: place, type, description }: Parameter) {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}
