import { fieldError } from '../validation/field-error.js';
import { isRecord, type JsonRecord, ownValue } from '../value/record.js';
import type { Check } from './check.js';
import { childPath, fieldOf } from './check.js';
import type { JsonSchema } from './json-schema.js';

export function objectChecks(schema: JsonSchema, compile: (schema: JsonSchema) => Check): Check<JsonRecord>[] {
  const checks = [...sizeChecks(schema)];
  const required = [
    ...(schema['x-kubernetes-embedded-resource'] ? ['apiVersion', 'kind'] : []),
    ...(schema.required ?? []),
  ];
  if (required.length > 0) checks.push(requiredCheck([...new Set(required)]));
  const members = membersCheck(schema, compile);
  return members === undefined ? checks : [...checks, members];
}

function sizeChecks({ minProperties, maxProperties }: JsonSchema): Check<JsonRecord>[] {
  const size = (record: JsonRecord) => Object.keys(record).length;
  const checks: Check<JsonRecord>[] = [];
  if (minProperties !== undefined) {
    checks.push({
      holds: (record) => size(record) >= minProperties,
      explain: (record, at) =>
        at.report(
          fieldError.invalid(
            fieldOf(at),
            size(record),
            `${at.path} in body should have at least ${minProperties} properties`,
          ),
        ),
    });
  }
  if (maxProperties !== undefined) {
    checks.push({
      holds: (record) => size(record) <= maxProperties,
      explain: (record, at) => at.report(fieldError.tooMany(fieldOf(at), size(record), maxProperties)),
    });
  }
  return checks;
}

function requiredCheck(names: readonly string[]): Check<JsonRecord> {
  return {
    holds: (record) => names.every((name) => Object.hasOwn(record, name)),
    explain: (record, at) => {
      for (const name of names) {
        if (!Object.hasOwn(record, name)) at.report(fieldError.required(childPath(at.path, name)));
      }
    },
  };
}

/** The values under `properties`, and the others under `additionalProperties`. */
function membersCheck(schema: JsonSchema, compile: (schema: JsonSchema) => Check): Check<JsonRecord> | undefined {
  const properties = new Map(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, compile(each)]));
  const { additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? compile(additionalProperties) : undefined;
  const isClosed = additionalProperties === false;
  if (properties.size === 0 && others === undefined && !isClosed) return undefined;
  return {
    holds: (record) => {
      for (const name of Object.keys(record)) {
        const check = properties.get(name) ?? others;
        if (check === undefined ? isClosed : !check.holds(record[name])) return false;
      }
      return true;
    },
    explain: (record, at) => {
      const old = isRecord(at.old) ? at.old : {};
      for (const [name, value] of Object.entries(record)) {
        const check = properties.get(name) ?? others;
        const path = childPath(at.path, name);
        if (check === undefined) {
          if (isClosed) at.report(fieldError.invalid(fieldOf(at), name, `${path} in body is a forbidden property`));
        } else if (!check.holds(value)) {
          check.explain(value, { path, old: ownValue(old, name), report: at.report });
        }
      }
    },
  };
}
