import { StatusError } from '../status-error.js';
import { fieldError, formatFieldError } from '../validation/field-error.js';
import { labelValueErrors, qualifiedNameErrors } from '../validation/names.js';
import type { LabelRequirement, LabelSelector } from './label-selector.js';

/**
 * Parses the text of a label selector: `app=etcd,tier in (a,b),!legacy,generation>3`.
 *
 * @throws StatusError 400 in the words of kube-apiserver.
 */
export function parseLabelSelector(text: string): LabelSelector {
  return new Parser(tokenize(text)).parse();
}

type TokenKind = 'identifier' | 'symbol' | 'end';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** `in` and `notin` are words, or operators, as the place demands. */
function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(/\s+|!=|==|[=!(),<>]|[^\s=!(),<>]+/g)) {
    const [piece] = match;
    if (piece.trim() === '') continue;
    tokens.push({ kind: /^[=!(),<>]/.test(piece) ? 'symbol' : 'identifier', text: piece });
  }
  return tokens;
}

const end: Token = { kind: 'end', text: '' };
const operators = 'in, notin, =, ==, !=, gt, lt';

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): LabelSelector {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().kind === 'end') return requirements;
    for (;;) {
      const start = this.#peek();
      if (start.kind !== 'identifier' && start.text !== '!') {
        throw refuse(`found '${start.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(checked(this.#requirement()));
      const separator = this.#next();
      if (separator.kind === 'end') return requirements;
      if (separator.text !== ',') throw refuse(`found '${separator.text}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (following.kind !== 'identifier' && following.text !== '!') {
        throw refuse(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    const isNegated = this.#accept('!');
    const key = this.#next();
    if (key.kind !== 'identifier') throw refuseRequirement(`found '${key.text}', expected: identifier`);
    if (isNegated) return { key: key.text, operator: '!', values: [] };
    const following = this.#peek();
    if (following.kind === 'end' || following.text === ',') return { key: key.text, operator: 'exists', values: [] };
    const operator = this.#next().text;
    switch (operator) {
      case '=':
      case '==':
        return { key: key.text, operator: 'in', values: [this.#value()] };
      case '!=':
        return { key: key.text, operator: 'notin', values: [this.#value()] };
      case '>':
        return { key: key.text, operator: 'gt', values: [this.#value()] };
      case '<':
        return { key: key.text, operator: 'lt', values: [this.#value()] };
      case 'in':
      case 'notin':
        return { key: key.text, operator, values: this.#values() };
      default:
        throw refuseRequirement(`found '${operator}', expected: ${operators}`);
    }
  }

  /** One value, which may be empty. */
  #value(): string {
    const token = this.#peek();
    if (token.kind === 'end' || token.text === ',') return '';
    if (token.kind !== 'identifier') throw refuseRequirement(`found '${token.text}', expected: identifier`);
    return this.#next().text;
  }

  /** `(a, b)`; an empty place is the empty value. */
  #values(): readonly string[] {
    const open = this.#next();
    if (open.text !== '(') throw refuseRequirement(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    for (;;) {
      values.add(this.#peek().kind === 'identifier' ? this.#next().text : '');
      const token = this.#next();
      if (token.text === ')') return [...values].sort();
      if (token.text !== ',') throw refuseRequirement(`found '${token.text}', expected: ',' or ')'`);
    }
  }

  #accept(text: string): boolean {
    if (this.#peek().text !== text) return false;
    this.#position += 1;
    return true;
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? end;
  }

  #next(): Token {
    const token = this.#peek();
    this.#position += 1;
    return token;
  }
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const { key, operator, values } = requirement;
  const errors = qualifiedNameErrors(key).map((detail) => fieldError.invalid('<nil>', key, detail));
  if (operator === 'gt' || operator === 'lt') {
    const isInteger = /^[+-]?\d+$/.test(values[0] ?? '');
    if (!isInteger) {
      errors.push(fieldError.invalid('values[0]', values[0], "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  }
  for (const [index, value] of values.entries()) {
    errors.push(
      ...labelValueErrors(value).map((detail) => fieldError.invalid(`values[${index}][${key}]`, value, detail)),
    );
  }
  const [first] = errors;
  if (first !== undefined) throw refuseRequirement(formatFieldError(first));
  return requirement;
}

function refuseRequirement(what: string): StatusError {
  return refuse(`unable to parse requirement: ${what}`);
}

function refuse(what: string): StatusError {
  return StatusError.of('BadRequest', what);
}
