import { fieldError, noField } from '../validation/field-error.js';
import type { Check } from './check.js';
import { fieldOf } from './check.js';
import { stringFormats } from './formats.js';
import type { JsonSchema } from './json-schema.js';
import { compilePattern } from './pattern.js';

/** The demands on a string: length, pattern (of which upstream reports the first that fails only) and format. */
export function stringChecks(schema: JsonSchema): Check<string>[] {
  const { maxLength, minLength, pattern } = schema;
  const checks: Check<string>[] = [];
  if (maxLength !== undefined) {
    checks.push({
      holds: (text) => text.length <= maxLength || countCharacters(text) <= maxLength,
      explain: (_, at) => at.report(fieldError.tooLong(fieldOf(at), maxLength)),
    });
  }
  if (minLength !== undefined) {
    checks.push({
      holds: (text) => text.length >= minLength && countCharacters(text) >= minLength,
      explain: (text, at) =>
        at.report(
          fieldError.invalid(fieldOf(at), text, `${at.path} in body should be at least ${minLength} chars long`),
        ),
    });
  }
  if (pattern !== undefined && pattern !== '') {
    const expression = compilePattern(pattern);
    checks.push({
      holds: (text) => expression.test(text),
      explain: (text, at) =>
        at.report(fieldError.invalid(fieldOf(at), text, `${at.path} in body should match '${pattern}'`)),
    });
  }
  const format = formatCheck(schema);
  return [...(checks.length > 1 ? [firstOf(checks)] : checks), ...(format === undefined ? [] : [format])];
}

function formatCheck({ format }: JsonSchema): Check<string> | undefined {
  const isOfFormat = format === undefined ? undefined : stringFormats.get(format);
  if (isOfFormat === undefined) return undefined;
  return {
    holds: isOfFormat,
    explain: (text, at) =>
      at.report(
        fieldError.typeInvalid(
          fieldOf(at),
          text,
          `${at.path} in body must be of type ${format}: ${JSON.stringify(text)}`,
        ),
      ),
  };
}

/** Of several checks, explains the first that fails only. */
function firstOf<T>(checks: readonly Check<T>[]): Check<T> {
  return {
    holds: (value) => checks.every((check) => check.holds(value)),
    explain: (value, at) => checks.find((check) => !check.holds(value))?.explain(value, at),
  };
}

/** Unicode code points, which is what lengths count. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** A `bigint` is an integer of 64 bits that a number cannot hold: see value/exact-json.ts. */
export type Numeric = number | bigint;

interface NumberRule {
  readonly holds: (number: Numeric) => boolean;
  readonly words: string;
}

export function numberChecks(schema: JsonSchema): Check<Numeric>[] {
  const { maximum, minimum, multipleOf, exclusiveMaximum, exclusiveMinimum } = schema;
  const rules: NumberRule[] = [];
  if (multipleOf !== undefined) {
    rules.push({
      holds: (number) => Number.isInteger(Number(number) / multipleOf),
      words: `should be a multiple of ${multipleOf}`,
    });
  }
  if (maximum !== undefined) {
    rules.push(
      exclusiveMaximum
        ? { holds: (number) => number < maximum, words: `should be less than ${maximum}` }
        : { holds: (number) => number <= maximum, words: `should be less than or equal to ${maximum}` },
    );
  }
  if (minimum !== undefined) {
    rules.push(
      exclusiveMinimum
        ? { holds: (number) => number > minimum, words: `should be greater than ${minimum}` }
        : { holds: (number) => number >= minimum, words: `should be greater than or equal to ${minimum}` },
    );
  }
  const checks = rules.map(
    ({ holds, words }): Check<Numeric> => ({
      holds,
      explain: (number, at) => {
        if (!holds(number)) at.report(fieldError.invalid(fieldOf(at), number, `${at.path} in body ${words}`));
      },
    }),
  );
  const range = rangeCheck(schema);
  return range === undefined ? checks : [...checks, range];
}

/** The widths of integer formats. Upstream names no field for these errors. */
function rangeCheck({ type, format }: JsonSchema): Check<Numeric> | undefined {
  const bits = format === 'int32' ? 31 : format === 'int64' ? 63 : undefined;
  if (bits === undefined || type !== 'integer') return undefined;
  const limit = 2 ** bits;
  return {
    holds: (number) => number >= -limit && number < limit,
    explain: (_, at) =>
      at.report(
        fieldError.invalid(noField, '', `Checked value must be of type ${type} with format ${format} in ${at.path}`),
      ),
  };
}
