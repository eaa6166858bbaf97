import { type CelValue, isCelList, LiteralMap } from './value.js';

/** What `Object.spec{replicas: 1}` makes: a map that knows as what it was written. */
export class CelMessage extends LiteralMap {
  readonly typeName: string;

  constructor(typeName: string, entries: Iterable<readonly [CelValue, CelValue]>) {
    super(entries);
    this.typeName = typeName;
  }
}

/**
 * Messages are written with the path of their field as their type. Where one says otherwise: what is wrong, in the words of
 * kube-apiserver.
 */
export function messageTypeProblem(value: CelValue, expected: string): string | undefined {
  if (isCelList(value)) return firstProblem(value.map((item) => messageTypeProblem(item, expected)));
  if (!(value instanceof CelMessage)) return undefined;
  if (value.typeName !== expected) {
    return `unexpected type name ${JSON.stringify(value.typeName)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`;
  }
  const fields = value.keys().map((key) => messageTypeProblem(value.get(key) ?? null, `${expected}.${String(key)}`));
  return firstProblem(fields);
}

function firstProblem(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
