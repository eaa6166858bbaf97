import { type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, count, record, records, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

const lastPrecedence = 10_000;
const distinguishers = ['ByNamespace', 'ByUser'];
const levelTypes = ['Exempt', 'Limited'];
const responses = ['Queue', 'Reject'];

/** Flow schemas are kept for those who read and write them: this server limits requests without them. */
export const flowSchemaStrategy: Strategy = {
  withDefaults: (schema) => ({ ...schema, spec: { matchingPrecedence: 1000, ...record(schema.spec) } }),
  prepareForCreate: (schema) => ({ ...schema, status: {} }),
  validate: (schema): readonly FieldError[] => {
    const spec = record(schema.spec);
    const precedence = count(spec.matchingPrecedence) ?? 0;
    const method = text(at(spec, 'distinguisherMethod', 'type'));
    const problem = `must not be greater than ${lastPrecedence}`;
    return [
      ...(precedence <= 0
        ? [fieldError.invalid('spec.matchingPrecedence', precedence, 'must be a positive value')]
        : []),
      ...(precedence > lastPrecedence ? [fieldError.invalid('spec.matchingPrecedence', precedence, problem)] : []),
      ...(precedence === 1 && schema.metadata.name !== 'exempt'
        ? [
            fieldError.invalid(
              'spec.matchingPrecedence',
              precedence,
              "only the schema named 'exempt' may have matchingPrecedence 1",
            ),
          ]
        : []),
      ...(method === undefined || distinguishers.includes(method)
        ? []
        : [fieldError.notSupported('spec.distinguisherMethod.type', method, distinguishers)]),
      ...((text(at(spec, 'priorityLevelConfiguration', 'name')) ?? '') === ''
        ? [fieldError.required('spec.priorityLevelConfiguration.name', 'must reference a priority level')]
        : []),
      ...records(spec.rules).flatMap((rule, index) =>
        records(rule.subjects).length === 0
          ? [fieldError.required(`spec.rules[${index}].subjects`, 'subjects must contain at least one value')]
          : [],
      ),
    ];
  },
};

export const priorityLevelStrategy: Strategy = {
  withDefaults: (level) => {
    const spec = record(level.spec);
    if (spec.type === 'Exempt') {
      return {
        ...level,
        spec: { ...spec, exempt: { nominalConcurrencyShares: 0, lendablePercent: 0, ...record(spec.exempt) } },
      };
    }
    if (spec.limited === undefined) return level;
    const limited = record(spec.limited);
    const response = record(limited.limitResponse);
    const queuing = { queues: 64, handSize: 8, queueLengthLimit: 50, ...record(response.queuing) };
    const limitResponse = response.queuing === undefined ? response : { ...response, queuing };
    return {
      ...level,
      spec: { ...spec, limited: { nominalConcurrencyShares: 30, lendablePercent: 0, ...limited, limitResponse } },
    };
  },
  prepareForCreate: (level) => ({ ...level, status: {} }),
  validate: levelErrors,
};

function levelErrors(level: ApiObject): readonly FieldError[] {
  const { type, limited, exempt } = record(level.spec);
  if (!levelTypes.includes(String(type))) return [fieldError.notSupported('spec.type', type ?? '', levelTypes)];
  if (type === 'Exempt') {
    return limited === undefined
      ? []
      : [fieldError.forbidden('spec.limited', 'must be nil if the type is not Limited')];
  }
  if (exempt !== undefined) return [fieldError.forbidden('spec.exempt', 'must be nil if the type is Limited')];
  if (limited === undefined) return [fieldError.required('spec.limited', 'must not be empty when type is Limited')];
  const response = record(at(limited, 'limitResponse'));
  const path = 'spec.limited.limitResponse';
  const isQueued = response.type === 'Queue';
  return [
    ...(responses.includes(String(response.type))
      ? []
      : [fieldError.notSupported(`${path}.type`, response.type ?? '', responses)]),
    ...(isQueued && response.queuing === undefined
      ? [fieldError.required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')]
      : []),
    ...(!isQueued && response.queuing !== undefined
      ? [fieldError.forbidden(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')]
      : []),
  ];
}
