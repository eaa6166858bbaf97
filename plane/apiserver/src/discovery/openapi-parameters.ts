import { type Descriptions, newerParameters, pathParameterTexts } from './descriptions.js';
import type { Operation } from './openapi-operations.js';

/** A parameter of a path or a query, as both versions of OpenAPI describe it in their own ways. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: string;
  readonly description: string;
}

/**
 * The parameters of a path's operations: those that all of them have, and each operation's others. In order of name, as
 * upstream writes them.
 */
export function parametersOf(operations: readonly Operation[], descriptions: Descriptions) {
  const each = operations.map((operation) =>
    operation.parameters.flatMap((name) => parametersNamed(name, operation, descriptions)).sort(byName),
  );
  const [first = [], ...others] = each;
  const common = first.filter((parameter) => others.every((list) => list.some((other) => isSame(parameter, other))));
  return {
    common,
    own: each.map((list) => list.filter((parameter) => !common.some((other) => isSame(parameter, other)))),
  };
}

function parametersNamed(
  named: string,
  { kind }: Operation,
  { parameters, streams }: Descriptions,
): readonly Parameter[] {
  const [first = '', second = ''] = named.split(':');
  if (first === 'path') {
    return [
      { name: second, in: 'path', type: 'string', description: pathParameterTexts[second]?.(kind?.kind ?? '') ?? '' },
    ];
  }
  if (first === 'stream') {
    return (streams[second] ?? []).map(([name, type, description]) => ({ name, in: 'query', type, description }));
  }
  const [type = 'string', description = ''] = parameters[named] ?? newerParameters[named] ?? [];
  return [{ name: first, in: 'query', type, description }];
}

function byName(left: Parameter, right: Parameter): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}

function isSame(left: Parameter, right: Parameter): boolean {
  return left.name === right.name && left.in === right.in && left.description === right.description;
}
