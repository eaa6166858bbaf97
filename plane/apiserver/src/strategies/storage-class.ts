import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, list, records, text } from '../json.js';
import { oneOfOrUnset, qualifiedErrors } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { driverNameErrors, parameterErrors } from './class-parameters.js';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];
const fixedFields = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];

export const storageClassStrategy: Strategy = {
  withDefaults: (storageClass) => ({
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    ...storageClass,
  }),
  validate: ({ provisioner, parameters, reclaimPolicy, volumeBindingMode, allowedTopologies }) => [
    ...driverNameErrors(provisioner, 'provisioner'),
    ...parameterErrors(parameters, 'parameters'),
    ...oneOfOrUnset(reclaimPolicy, reclaimPolicies, 'reclaimPolicy'),
    ...oneOfOrUnset(volumeBindingMode, bindingModes, 'volumeBindingMode'),
    ...topologyErrors(records(allowedTopologies), 'allowedTopologies'),
  ],
  validateUpdate: (storageClass, current) =>
    fixedFields.flatMap((field) =>
      deepEqual(storageClass[field], current[field])
        ? []
        : [fieldError.invalid(field, storageClass[field] ?? null, 'field is immutable')],
    ),
};

/** Where volumes of the class may be. Source: ValidateTopologySelectorTerm. */
function topologyErrors(terms: readonly JsonRecord[], path: string): readonly FieldError[] {
  return terms.flatMap(({ matchLabelExpressions }, index) => {
    const own = `${path}[${index}].matchLabelExpressions`;
    const isRepeated = terms
      .slice(0, index)
      .some((other) => deepEqual(other.matchLabelExpressions, matchLabelExpressions));
    return [
      ...requirementErrors(records(matchLabelExpressions), own),
      ...(isRepeated ? [fieldError.duplicate(own, '')] : []),
    ];
  });
}

function requirementErrors(requirements: readonly JsonRecord[], path: string): readonly FieldError[] {
  const keys = requirements.map(({ key }) => text(key) ?? '');
  return requirements.flatMap(({ values }, index) => {
    const own = `${path}[${index}]`;
    const all = list(values);
    const key = keys[index] ?? '';
    return [
      ...(all.length === 0 ? [fieldError.required(`${own}.values`)] : []),
      ...all.flatMap((value, position) =>
        all.indexOf(value) < position ? [fieldError.duplicate(`${own}.values[${position}]`, value)] : [],
      ),
      ...qualifiedErrors(key, `${own}.key`),
      ...(keys.indexOf(key) < index ? [fieldError.duplicate(`${own}.key`, key)] : []),
    ];
  });
}
