import { type FieldError, fieldError, formatQuantity, parseQuantity, quantityToNumber } from '@castellan/machinery';
import { at, type JsonRecord, record, records, text } from '../json.js';
import { containerResourceErrors, mayOvercommit, resourceNameErrors } from '../pods/resource-rules.js';
import { qualifiedErrors } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';

const types = ['Container', 'PersistentVolumeClaim', 'Pod'];

export const limitRangeStrategy: Strategy = {
  withDefaults: (range) => {
    const spec = record(range.spec);
    return { ...range, spec: { ...spec, limits: records(spec.limits).map(withLimitDefaults) } };
  },
  validate: (range) => {
    const limits = records(at(range, 'spec', 'limits'));
    const types = limits.map(({ type }) => type);
    return limits.flatMap((limit, index) => {
      const path = `spec.limits[${index}]`;
      const isDuplicate = types.indexOf(limit.type) < index;
      return [
        ...typeErrors(text(limit.type) ?? '', `${path}.type`),
        ...(isDuplicate ? [fieldError.duplicate(`${path}.type`, limit.type)] : []),
        ...limitErrors(limit, path),
      ];
    });
  },
};

/** A limit is the default where none is given, and what is asked for by default is the default limit, else the least. */
function withLimitDefaults(limit: JsonRecord): JsonRecord {
  if (limit.type !== 'Container') return limit;
  const preset = { ...record(limit.max), ...record(limit.default) };
  const request = { ...record(limit.min), ...preset, ...record(limit.defaultRequest) };
  return {
    ...limit,
    ...(Object.keys(preset).length === 0 ? {} : { default: preset }),
    ...(Object.keys(request).length === 0 ? {} : { defaultRequest: request }),
  };
}

/** What is limited: a known type, or one with a domain. */
function typeErrors(type: string, path: string): readonly FieldError[] {
  const isKnown = types.includes(type) || type.includes('/');
  const malformed = qualifiedErrors(type, path);
  if (malformed.length > 0 || isKnown) return malformed;
  return [fieldError.invalid(path, type, 'must be a standard limit type or fully qualified')];
}

const extremes = ['max', 'min'];
const presets = ['default', 'defaultRequest'];

function limitErrors(limit: JsonRecord, path: string): readonly FieldError[] {
  const { type } = limit;
  const isOfContainers = type === 'Pod' || type === 'Container';
  const nameErrors = (field: string) =>
    Object.keys(record(limit[field])).flatMap((name) =>
      (isOfContainers ? containerResourceErrors : resourceNameErrors)(name, `${path}.${field}[${name}]`),
    );
  const isUnbound = at(limit, 'min', 'storage') === undefined && at(limit, 'max', 'storage') === undefined;
  const unbound = 'either minimum or maximum storage value is required, but neither was provided';
  const fields = [...extremes, ...(type === 'Pod' ? [] : presets), 'maxLimitRequestRatio'];
  const names = new Set(fields.flatMap((field) => Object.keys(record(limit[field]))));
  return [
    ...extremes.flatMap(nameErrors),
    ...presets.flatMap((field) => {
      if (type !== 'Pod') return nameErrors(field);
      const isSet = Object.keys(record(limit[field])).length > 0;
      return isSet ? [fieldError.forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'")] : [];
    }),
    ...(type === 'PersistentVolumeClaim' && isUnbound ? [fieldError.required(`${path}.limits`, unbound)] : []),
    ...nameErrors('maxLimitRequestRatio'),
    ...[...names].flatMap((name) => resourceErrors(limit, name, path)),
  ];
}

function resourceErrors(limit: JsonRecord, name: string, path: string): readonly FieldError[] {
  const value = (field: string) => text(at(limit, field, name));
  const [min, max, preset, request] = [value('min'), value('max'), value('default'), value('defaultRequest')];
  const ratio = value('maxLimitRequestRatio');
  const above = (left: string | undefined, right: string | undefined): boolean =>
    left !== undefined && right !== undefined && amountOf(left) > amountOf(right);
  const problem = (field: string, shown: string | undefined, detail: string) =>
    fieldError.invalid(`${path}.${field}[${name}]`, shown, detail);
  return [
    ...(above(min, max) ? [problem('min', min, `min value ${min} is greater than max value ${max}`)] : []),
    ...(above(min, request)
      ? [problem('defaultRequest', request, `min value ${min} is greater than default request value ${request}`)]
      : []),
    ...(above(request, max)
      ? [problem('defaultRequest', request, `default request value ${request} is greater than max value ${max}`)]
      : []),
    ...(above(request, preset)
      ? [
          problem(
            'defaultRequest',
            request,
            `default request value ${request} is greater than default limit value ${preset}`,
          ),
        ]
      : []),
    ...(above(min, preset)
      ? [problem('default', min, `min value ${min} is greater than default value ${preset}`)]
      : []),
    ...(above(preset, max)
      ? [problem('default', max, `default value ${preset} is greater than max value ${max}`)]
      : []),
    ...(ratio === undefined
      ? []
      : ratioErrors(canonical(ratio), { min, max, path: `${path}.maxLimitRequestRatio[${name}]` })),
    ...(!mayOvercommit(name) && preset !== undefined && request !== undefined && amountOf(preset) !== amountOf(request)
      ? [
          problem(
            'defaultRequest',
            request,
            `default value ${preset} must equal to defaultRequest value ${request} in ${name}`,
          ),
        ]
      : []),
  ];
}

/** How much more a pod may use than it asked for. */
function ratioErrors(
  ratio: string,
  { min, max, path }: { readonly min: string | undefined; readonly max: string | undefined; readonly path: string },
): readonly FieldError[] {
  const widest = min === undefined || max === undefined ? undefined : amountOf(max) / amountOf(min);
  const isWide = widest !== undefined && amountOf(ratio) > widest;
  return [
    ...(amountOf(ratio) < 1 ? [fieldError.invalid(path, ratio, `ratio ${ratio} is less than 1`)] : []),
    ...(isWide
      ? [fieldError.invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${widest.toFixed(6)}`)]
      : []),
  ];
}

function canonical(amount: string): string {
  return formatQuantity(parseQuantity(amount));
}

function amountOf(value: unknown): number {
  return quantityToNumber(parseQuantity(String(value)));
}
