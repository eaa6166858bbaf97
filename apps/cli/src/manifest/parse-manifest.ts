import type { KubernetesObject } from '@castellan/machinery';
import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import { CliError } from '../errors.js';

/** An object of a manifest that names itself: what is needed to ask an API server about it. */
export interface ManifestObject extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: KubernetesObject['metadata'] & { readonly name: string };
}

/**
 * The objects of a YAML or JSON manifest, in order; `kind: List` stands for its items and empty documents for nothing.
 * An error names the file with line and column, and what to do.
 */
export function parseManifest(text: string, file: string): readonly ManifestObject[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const objects = ('empty' in documents ? [] : documents).flatMap((document) => {
    checkSyntax(document, { text, file, lines });
    const value = plainValueOf(document, file);
    const start = lines.linePos(document.contents?.range?.[0] ?? 0).line;
    return value === null || value === undefined
      ? []
      : itemsOf(value).map((item) => checkObject(item, `${file}, line ${start}`));
  });
  if (objects.length === 0)
    throw new CliError('NOT_AN_OBJECT', `${file} holds no object.`, { next: 'give a manifest' });
  return objects;
}

/** Aliases without an anchor, and those that would unfold without end, only show here. */
function plainValueOf(document: Document.Parsed, file: string): unknown {
  try {
    const value: unknown = document.toJS();
    return value;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('NOT_YAML', `${file}: this is not YAML: ${why}`, { cause });
  }
}

interface Source {
  readonly text: string;
  readonly file: string;
  readonly lines: LineCounter;
}

function checkSyntax(document: Document.Parsed, { text, file, lines }: Source): void {
  const error = document.errors[0];
  if (error === undefined) return;
  const { line, col } = lines.linePos(error.pos[0]);
  const shown = text.split('\n')[line - 1] ?? '';
  throw new CliError(
    'NOT_YAML',
    `${file}, line ${line}, column ${col}: this is not YAML: ${error.message}\n    ${shown}\n    ${' '.repeat(col - 1)}^`,
    { cause: error },
  );
}

function itemsOf(value: unknown): readonly unknown[] {
  const isList = isRecord(value) && value.kind === 'List' && Array.isArray(value.items);
  return isList && Array.isArray(value.items) ? value.items : [value];
}

function checkObject(value: unknown, place: string): ManifestObject {
  const fail = (problem: string): never => {
    throw new CliError('NOT_AN_OBJECT', `${place}: ${problem}`);
  };
  if (!isRecord(value)) return fail('the document is not an object with apiVersion, kind and metadata.');
  const { apiVersion, kind, metadata } = value;
  if (!isText(apiVersion)) return fail('apiVersion is missing; it is for example "etcd.database.coreos.com/v1beta2".');
  if (!isText(kind)) return fail('kind is missing; it is for example "EtcdCluster".');
  if (!isRecord(metadata) || !isText(metadata.name)) return fail(`metadata.name of the ${kind} is missing.`);
  return { ...value, apiVersion, kind, metadata: { ...metadata, name: metadata.name } };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
