import { type FieldError, fieldError, invalidError } from '@castellan/machinery';
import { writtenBy } from '../authentication/review-metadata.js';
import { badRequest } from '../errors.js';
import { type ApiObject, at, isRecord, list, records, text } from '../json.js';
import type { Exchange } from '../request/exchange.js';
import type { Server } from '../request/server.js';
import type { User } from '../server/http.js';
import type { Attributes } from './attributes.js';
import type { PolicyRule } from './policy-rule.js';

/** SelfSubjectAccessReview: may the client do this? (`kubectl auth can-i`) */
export async function reviewOwnAccess(server: Server, exchange: Exchange, review: ApiObject) {
  throwIfInvalid(attributeErrors(review));
  return answered(server, exchange, review, exchange.user);
}

/** SubjectAccessReview and LocalSubjectAccessReview: may somebody do this? */
export async function reviewAccess(server: Server, exchange: Exchange, review: ApiObject) {
  const user = text(at(review, 'spec', 'user')) ?? '';
  const groups = texts(at(review, 'spec', 'groups'));
  const errors = [...attributeErrors(review)];
  if (user === '' && groups.length === 0) {
    errors.push(fieldError.invalid('spec.user', user, 'at least one of user or group must be specified'));
  }
  const { info } = exchange;
  const namespace = info.type === 'resource' ? info.namespace : undefined;
  const asked = text(at(review, 'spec', 'resourceAttributes', 'namespace')) ?? '';
  if (namespace !== undefined && asked !== namespace) {
    errors.push(fieldError.invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  }
  throwIfInvalid(errors);
  return answered(server, exchange, review, { name: user, groups });
}

/** SelfSubjectRulesReview: all that the client may do in a namespace. */
export async function reviewOwnRules(server: Server, { user }: Exchange, review: ApiObject) {
  const namespace = text(at(review, 'spec', 'namespace')) ?? '';
  if (namespace === '') throw badRequest('no namespace on request');
  const rules = await server.authorizer.rulesOf(user, namespace);
  return {
    kind: review.kind,
    apiVersion: review.apiVersion,
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.filter(({ resources }) => resources.length > 0).map(shown),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
    },
  };
}

function shown({ verbs, apiGroups, resources, resourceNames }: PolicyRule) {
  return { verbs, apiGroups, resources, ...(resourceNames.length === 0 ? {} : { resourceNames }) };
}

async function answered(server: Server, { request, info }: Exchange, review: ApiObject, user: User) {
  const { isAllowed, reason } = await server.authorizer.decide(attributesIn(review, user));
  const namespace = info.type === 'resource' ? info.namespace : undefined;
  return {
    ...review,
    metadata: { ...(namespace === undefined ? {} : { namespace }), ...writtenBy(server, request, review) },
    status: { allowed: isAllowed, ...(reason === '' ? {} : { reason }) },
  };
}

function attributesIn(review: ApiObject, user: User): Attributes {
  const path = at(review, 'spec', 'nonResourceAttributes');
  const field = (name: string, of: unknown) => text(at(of, name)) ?? '';
  if (isRecord(path)) return { type: 'path', user, verb: field('verb', path), path: field('path', path) };
  const asked = at(review, 'spec', 'resourceAttributes');
  return {
    type: 'resource',
    user,
    verb: field('verb', asked),
    group: field('group', asked),
    resource: field('resource', asked),
    subresource: field('subresource', asked),
    namespace: field('namespace', asked),
    name: field('name', asked) || nameRequired(asked),
    fieldSelector: text(at(asked, 'fieldSelector', 'rawSelector')) ?? selectorRequired(asked),
  };
}

/** The requirements that one value fulfils, as a selector. */
function selectorRequired(asked: unknown): string {
  return records(at(asked, 'fieldSelector', 'requirements'))
    .flatMap(({ key, operator, values }) => {
      const [value, ...others] = texts(values);
      return operator === 'In' && value !== undefined && others.length === 0 ? [`${String(key)}=${value}`] : [];
    })
    .join(',');
}

/** A question about lists of one name is one about that name. */
function nameRequired(asked: unknown): string {
  const [only, ...others] = records(at(asked, 'fieldSelector', 'requirements'));
  if (only === undefined || others.length > 0 || only.key !== 'metadata.name' || only.operator !== 'In') return '';
  return texts(only.values)[0] ?? '';
}

function attributeErrors(review: ApiObject): readonly FieldError[] {
  const ofResource = at(review, 'spec', 'resourceAttributes');
  const ofPath = at(review, 'spec', 'nonResourceAttributes');
  if (isRecord(ofResource) && isRecord(ofPath)) {
    const value = { Path: text(ofPath.path) ?? '', Verb: text(ofPath.verb) ?? '' };
    const problem = 'cannot be specified in combination with resourceAttributes';
    return [fieldError.invalid('spec.nonResourceAttributes', value, problem)];
  }
  if (isRecord(ofResource) || isRecord(ofPath)) return [];
  const problem = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [fieldError.invalid('spec.resourceAttributes', null, problem)];
}

/** Refusals of reviews name no kind, as kube-apiserver's do. */
function throwIfInvalid(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidError({ group: 'authorization.k8s.io', kind: '' }, '', errors);
}

function texts(value: unknown): readonly string[] {
  return list(value).flatMap((item) => text(item) ?? []);
}
