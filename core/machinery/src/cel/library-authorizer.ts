import type { FunctionTable } from './function-table.js';
import { type CelMap, type CelObject, type CelValue, isCelObject } from './value.js';

/** May somebody do this? */
export type CelAccessQuestion = {
  /** Who is asked about, if not the client. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly verb: string;
} & ({ readonly path: string } | CelResourceName);

export interface CelResourceName {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface CelAccessAnswer {
  readonly isAllowed: boolean;
  readonly reason: string;
}

type Ask = (question: CelAccessQuestion) => CelAccessAnswer;
type Subject = Pick<CelAccessQuestion, 'serviceAccount'>;

/** The variable `authorizer` of admission's expressions (kubernetes.io/docs/reference/using-api/cel, authorizer library). */
export class CelAuthorizer implements CelMap {
  readonly isMap = true;
  readonly size = 1;
  readonly ask: Ask;
  readonly subject: Subject;
  private readonly requestResource: CelResourceName;

  constructor(ask: Ask, requestResource: CelResourceName, subject: Subject = {}) {
    this.ask = ask;
    this.subject = subject;
    this.requestResource = requestResource;
  }

  keys(): readonly CelValue[] {
    return ['requestResource'];
  }

  get(key: CelValue): CelValue | undefined {
    return key === 'requestResource' ? new ResourceCheck(this, this.requestResource) : undefined;
  }

  of(serviceAccount: { readonly namespace: string; readonly name: string }): CelAuthorizer {
    return new CelAuthorizer(this.ask, this.requestResource, { serviceAccount });
  }
}

class ResourceCheck implements CelObject {
  readonly celType = 'kubernetes.authorization.ResourceCheck';
  readonly by: CelAuthorizer;
  readonly asked: CelResourceName;

  constructor(by: CelAuthorizer, asked: CelResourceName) {
    this.by = by;
    this.asked = asked;
  }

  with(part: Partial<CelResourceName>): ResourceCheck {
    return new ResourceCheck(this.by, { ...this.asked, ...part });
  }

  equals(other: CelValue): boolean {
    return other === this;
  }
}

class GroupCheck implements CelObject {
  readonly celType = 'kubernetes.authorization.GroupCheck';
  readonly by: CelAuthorizer;
  readonly group: string;

  constructor(by: CelAuthorizer, group: string) {
    this.by = by;
    this.group = group;
  }

  equals(other: CelValue): boolean {
    return other === this;
  }
}

class PathCheck implements CelObject {
  readonly celType = 'kubernetes.authorization.PathCheck';
  readonly by: CelAuthorizer;
  readonly path: string;

  constructor(by: CelAuthorizer, path: string) {
    this.by = by;
    this.path = path;
  }

  equals(other: CelValue): boolean {
    return other === this;
  }
}

class Decision implements CelObject {
  readonly celType = 'kubernetes.authorization.Decision';
  readonly answer: CelAccessAnswer;

  constructor(answer: CelAccessAnswer) {
    this.answer = answer;
  }

  equals(other: CelValue): boolean {
    return other === this;
  }
}

/** Asking costs as much as upstream counts for it. */
const checkUnits = 350_000;
const type = 'kubernetes.authorization.';

export const authorizerTypes: readonly string[] = [
  'Authorizer',
  'GroupCheck',
  'ResourceCheck',
  'PathCheck',
  'Decision',
].map((name) => `${type}${name}`);

export const authorizerFunctions: FunctionTable = {
  path: {
    signatures: [`${type}Authorizer.path(string): ${type}PathCheck`],
    run: ([path], target) =>
      target instanceof CelAuthorizer && typeof path === 'string' ? new PathCheck(target, path) : undefined,
  },
  group: {
    signatures: [`${type}Authorizer.group(string): ${type}GroupCheck`],
    run: ([group], target) =>
      target instanceof CelAuthorizer && typeof group === 'string' ? new GroupCheck(target, group) : undefined,
  },
  serviceAccount: {
    signatures: [`${type}Authorizer.serviceAccount(string, string): ${type}Authorizer`],
    run: ([namespace, name], target) =>
      target instanceof CelAuthorizer && typeof namespace === 'string' && typeof name === 'string'
        ? target.of({ namespace, name })
        : undefined,
  },
  resource: {
    signatures: [`${type}GroupCheck.resource(string): ${type}ResourceCheck`],
    run: ([resource], target) =>
      target instanceof GroupCheck && typeof resource === 'string'
        ? new ResourceCheck(target.by, { group: target.group, resource, subresource: '', namespace: '', name: '' })
        : undefined,
  },
  subresource: partOf('subresource'),
  namespace: partOf('namespace'),
  name: partOf('name'),
  check: {
    signatures: [
      `${type}ResourceCheck.check(string): ${type}Decision`,
      `${type}PathCheck.check(string): ${type}Decision`,
    ],
    cost: (_parameters, target) => (target !== undefined && isCelObject(target) ? checkUnits : 0),
    run: ([verb], target) => {
      if (typeof verb !== 'string') return undefined;
      if (target instanceof ResourceCheck) {
        return new Decision(target.by.ask({ ...target.by.subject, verb, ...target.asked }));
      }
      if (target instanceof PathCheck) {
        return new Decision(target.by.ask({ ...target.by.subject, verb, path: target.path }));
      }
      return undefined;
    },
  },
  allowed: {
    signatures: [`${type}Decision.allowed(): bool`],
    run: (_parameters, target) => (target instanceof Decision ? target.answer.isAllowed : undefined),
  },
  reason: {
    signatures: [`${type}Decision.reason(): string`],
    run: (_parameters, target) => (target instanceof Decision ? target.answer.reason : undefined),
  },
  errored: {
    signatures: [`${type}Decision.errored(): bool`],
    run: (_parameters, target) => (target instanceof Decision ? false : undefined),
  },
  error: {
    signatures: [`${type}Decision.error(): string`],
    run: (_parameters, target) => (target instanceof Decision ? '' : undefined),
  },
};

function partOf(field: 'subresource' | 'namespace' | 'name'): FunctionTable[string] {
  return {
    signatures: [`${type}ResourceCheck.${field}(string): ${type}ResourceCheck`],
    run: ([value], target) =>
      target instanceof ResourceCheck && typeof value === 'string' ? target.with({ [field]: value }) : undefined,
  };
}
