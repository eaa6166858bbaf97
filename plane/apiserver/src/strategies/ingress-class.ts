import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, text } from '../json.js';
import {
  domainPathErrors,
  labelNameErrors,
  pathSegmentErrors,
  requiredText,
  subdomainErrors,
} from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';

const longestController = 250;
const scopes = ['Cluster', 'Namespace'];

export const ingressClassStrategy: Strategy = {
  withDefaults: (ingressClass) => {
    const spec = record(ingressClass.spec);
    if (spec.parameters === undefined) return ingressClass;
    return { ...ingressClass, spec: { ...spec, parameters: { scope: 'Cluster', ...record(spec.parameters) } } };
  },
  validate: classErrors,
  validateUpdate: (ingressClass, current) => {
    const controller = at(ingressClass, 'spec', 'controller');
    if (deepEqual(controller, at(current, 'spec', 'controller'))) return [];
    return [fieldError.invalid('spec.controller', controller, 'field is immutable')];
  },
};

function classErrors(ingressClass: ApiObject): readonly FieldError[] {
  const { controller, parameters } = record(ingressClass.spec);
  return [
    ...controllerErrors(text(controller) ?? '', 'spec.controller'),
    ...(parameters === undefined ? [] : parameterErrors(record(parameters), 'spec.parameters')),
  ];
}

function controllerErrors(controller: string, path: string): readonly FieldError[] {
  if (controller === '') return [fieldError.required(path)];
  const isLong = controller.length > longestController;
  return [...(isLong ? [fieldError.tooLong(path, longestController)] : []), ...domainPathErrors(controller, path)];
}

function parameterErrors(parameters: JsonRecord, path: string): readonly FieldError[] {
  const { apiGroup, kind, name } = parameters;
  return [
    ...(apiGroup === undefined ? [] : subdomainErrors(apiGroup, `${path}.apiGroup`)),
    ...requiredText(kind, `${path}.kind`),
    ...pathSegmentErrors(kind, `${path}.kind`),
    ...requiredText(name, `${path}.name`),
    ...pathSegmentErrors(name, `${path}.name`),
    ...scopeErrors(parameters, path),
  ];
}

function scopeErrors({ scope, namespace }: JsonRecord, path: string): readonly FieldError[] {
  const own = `${path}.namespace`;
  if (scope === 'Cluster') {
    return namespace === undefined ? [] : [fieldError.forbidden(own, "`parameters.scope` is set to 'Cluster'")];
  }
  if (scope !== 'Namespace') return [fieldError.notSupported(`${path}.scope`, scope, scopes)];
  return namespace === undefined
    ? [fieldError.required(own, "`parameters.scope` is set to 'Namespace'")]
    : labelNameErrors(namespace, own);
}
