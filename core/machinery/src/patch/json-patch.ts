import { StatusError } from '../status-error.js';
import { deepEqual } from '../value/deep-equal.js';
import { exactJson } from '../value/exact-json.js';
import { isList, isRecord, ownValue, withChanges } from '../value/record.js';
import { parsePointer } from './json-pointer.js';

/** More operations than this are refused, as by kube-apiserver. */
const longestJsonPatch = 10_000;

/** What `copy` operations may add in all, in characters of JSON: 3 MiB, kube-apiserver's limit of a request body. */
const mostCopied = 3 * 1024 * 1024;

/** A `test` of the patch found another value. */
export class FailedTestError extends StatusError {}

/**
 * Applies a JSON patch (RFC 6902), all of it or nothing. `document` is not changed; the result shares what stays.
 *
 * @throws StatusError 400 when the patch is malformed; 413 when it is too long; 422 when it cannot be applied to this
 * document, in the words of the Go library that kube-apiserver uses.
 */
export function applyJsonPatch(document: unknown, operations: unknown): unknown {
  if (!isList(operations)) {
    const type = typeof operations === 'boolean' ? 'bool' : typeof operations;
    const problem = `json: cannot unmarshal ${type} into Go value of type jsonpatch.Patch`;
    throw StatusError.of('BadRequest', `error decoding patch: ${problem}`);
  }
  if (operations.length > longestJsonPatch) {
    throw StatusError.of(
      'RequestEntityTooLarge',
      `Request entity is too large: The allowed maximum operations in a JSON patch is ${longestJsonPatch}, got ${operations.length}`,
    );
  }
  let result = document;
  let copied = 0;
  for (const operation of operations) {
    const { op, path, from, value } = parseOperation(operation);
    switch (op) {
      case 'add':
        result = add(result, path, value);
        break;
      case 'remove':
        result = remove(result, path);
        break;
      case 'replace':
        result = replace(result, path, value);
        break;
      case 'move': {
        const moved = read(result, from, op);
        result = add(remove(result, from), path, moved);
        break;
      }
      case 'copy': {
        const original = read(result, from, op);
        copied += exactJson(original).length;
        if (copied > mostCopied)
          throw unprocessable(`'${path.text}': the copies of this patch come to more than ${mostCopied} bytes`);
        result = add(result, path, original);
        break;
      }
      case 'test':
        test(result, path, value);
        break;
    }
  }
  return result;
}

interface Pointer {
  readonly text: string;
  readonly tokens: readonly string[];
}

const operationNames = ['add', 'remove', 'replace', 'move', 'copy', 'test'] as const;

interface Operation {
  readonly op: (typeof operationNames)[number];
  readonly path: Pointer;
  readonly from: Pointer;
  readonly value: unknown;
}

function parseOperation(operation: unknown): Operation {
  if (!isRecord(operation)) throw StatusError.of('BadRequest', 'error decoding patch: an operation is an object');
  const name = ownValue(operation, 'op');
  const op = operationNames.find((each) => each === name);
  if (op === undefined) throw invalidPatch(`Unexpected kind: ${typeof name === 'string' ? name : 'unknown'}`);
  const needsFrom = op === 'move' || op === 'copy';
  const needsValue = op === 'add' || op === 'replace';
  // A test without a value tests for null.
  const value = Object.hasOwn(operation, 'value') ? operation.value : op === 'test' ? null : undefined;
  if (needsValue && value === undefined) throw invalidPatch(`${op} operation missing value field`);
  const path = parsePath(op, 'path', ownValue(operation, 'path'));
  return { op, path, from: needsFrom ? parsePath(op, 'from', ownValue(operation, 'from')) : path, value };
}

function parsePath(op: string, member: string, text: unknown): Pointer {
  if (typeof text !== 'string') throw invalidPatch(`${op} operation missing ${member} field`);
  const tokens = parsePointer(text);
  if (tokens === undefined) throw cannotFind(op, text);
  return { text, tokens };
}

function read(document: unknown, from: Pointer, op: string): unknown {
  let value = document;
  for (const token of from.tokens) {
    value = isList(value) ? value[indexOf(value, token, from)] : isRecord(value) ? ownValue(value, token) : undefined;
    if (value === undefined) throw cannotFind(op, from.text);
  }
  return value;
}

function add(document: unknown, path: Pointer, value: unknown): unknown {
  return change(
    document,
    path,
    'add',
    (parent, token) => {
      if (!isList(parent)) return withChanges(parent, new Map([[token, value]]));
      const index = token === '-' ? parent.length : indexOf(parent, token, path, parent.length);
      return parent.toSpliced(index, 0, value);
    },
    value,
  );
}

function remove(document: unknown, path: Pointer): unknown {
  return change(
    document,
    path,
    'remove',
    (parent, token) => {
      if (isList(parent)) return parent.toSpliced(indexOf(parent, token, path), 1);
      if (!Object.hasOwn(parent, token)) throw cannotRemove(path, token);
      return withChanges(parent, new Map([[token, undefined]]));
    },
    null,
  );
}

function replace(document: unknown, path: Pointer, value: unknown): unknown {
  return change(
    document,
    path,
    'replace',
    (parent, token) => {
      if (isList(parent)) return parent.with(indexOf(parent, token, path), value);
      if (!Object.hasOwn(parent, token)) throw cannotFind('replace', path.text);
      return withChanges(parent, new Map([[token, value]]));
    },
    value,
  );
}

function test(document: unknown, path: Pointer, expected: unknown): void {
  let value = document;
  for (const token of path.tokens) {
    value = isList(value) ? value[indexOf(value, token, path)] : isRecord(value) ? ownValue(value, token) : undefined;
  }
  if (!deepEqual(value ?? null, expected)) {
    throw new FailedTestError(unprocessable(`testing value ${path.text} failed: test failed`).status);
  }
}

type Parent = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Rebuilds the objects and lists down to the parent of `path`, in which `edit` changes one member. */
function change(
  document: unknown,
  path: Pointer,
  op: string,
  edit: (parent: Parent, token: string) => unknown,
  whole: unknown,
): unknown {
  if (path.tokens.length === 0) return whole;
  const descend = (value: unknown, depth: number): unknown => {
    const token = path.tokens[depth] ?? '';
    if (!isList(value) && !isRecord(value)) throw cannotFind(op, path.text);
    if (depth === path.tokens.length - 1) return edit(value, token);
    if (isList(value)) {
      const index = indexOf(value, token, path);
      return value.with(index, descend(value[index], depth + 1));
    }
    if (!Object.hasOwn(value, token)) throw cannotFind(op, path.text);
    return withChanges(value, new Map([[token, descend(value[token], depth + 1)]]));
  };
  return descend(document, 0);
}

/** The 422 of kube-apiserver, which keeps the reason to itself; we say it. */
function unprocessable(reason: string): StatusError {
  return StatusError.of('Invalid', `the server rejected our request due to an error in our request: ${reason}`);
}

/** A list index; `last` is the greatest allowed. Negative ones count from the end, as in the Go library. */
function indexOf(list: readonly unknown[], token: string, path: Pointer, last = list.length - 1): number {
  if (!/^(?:0|-?[1-9]\d*)$/.test(token)) throw invalidIndex(path, token);
  const number = Number(token);
  const index = number < 0 ? number + last + 1 : number;
  if (index < 0 || index > last) throw invalidIndex(path, token);
  return index;
}

function invalidIndex(path: Pointer, token: string): StatusError {
  return unprocessable(`'${path.text}': Unable to access invalid index: ${token}: invalid index referenced`);
}

function cannotFind(op: string, path: string): StatusError {
  return unprocessable(`jsonpatch ${op} operation does not apply: doc is missing path: ${path}: missing value`);
}

function cannotRemove(path: Pointer, token: string): StatusError {
  return unprocessable(
    `error in remove for path: '${path.text}': Unable to remove nonexistent key: ${token}: missing value`,
  );
}

function invalidPatch(why: string): StatusError {
  return StatusError.of('BadRequest', `error decoding patch: ${why}`);
}
