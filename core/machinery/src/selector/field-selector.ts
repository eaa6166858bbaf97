import { StatusError } from '../status-error.js';

/** `spec.nodeName=n1` or `status.phase!=Running`. Which fields there are, the kind says. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export type FieldSelector = readonly FieldRequirement[];

/**
 * Parses the text of a field selector: `metadata.name=a,status.phase!=Running`. In values `\\`, `\,` and `\=` stand for
 * the character.
 *
 * @throws StatusError 400 in the words of kube-apiserver.
 */
export function parseFieldSelector(text: string): FieldSelector {
  return splitTerms(text)
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, text));
}

/** Whether all demands hold of an object whose fields `fieldValue` gives; an absent field is ''. */
export function matchesFields(selector: FieldSelector, fieldValue: (field: string) => string | undefined): boolean {
  return selector.every(({ field, operator, value }) => ((fieldValue(field) ?? '') === value) === (operator === '='));
}

export function formatFieldSelector(selector: FieldSelector): string {
  return selector
    .map(
      ({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, (character) => `\\${character}`)}`,
    )
    .join(',');
}

/** Commas part terms, but for those after a backslash. */
function splitTerms(text: string): readonly string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === ',') {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(term: string, whole: string): FieldRequirement {
  const match = /^(?<field>(?:\\[\s\S]|(?!!=|=)[\s\S])*)(?<operator>!=|==|=)(?<value>[\s\S]*)$/.exec(term);
  const { field = '', operator, value = '' } = match?.groups ?? {};
  if (operator === undefined) {
    throw StatusError.of('BadRequest', `invalid selector: '${whole}'; can't understand '${term}'`);
  }
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) };
}

function unescapeValue(value: string): string {
  let result = '';
  for (let index = 0; index < value.length; index += 1) {
    const character = value[index] ?? '';
    if (character === ',' || character === '=') {
      throw StatusError.of(
        'BadRequest',
        `invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`,
      );
    }
    if (character !== '\\') {
      result += character;
      continue;
    }
    index += 1;
    const escaped = value[index] ?? '';
    if (!['\\', ',', '='].includes(escaped)) {
      throw StatusError.of('BadRequest', `invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    result += escaped;
  }
  return result;
}
