import { type JsonRecord, text } from '../json.js';

/** What Go says of an object that is of another kind than the one that is wanted. */
export async function kindProblem(
  wanted: { readonly group: string; readonly kind: string },
  sent: JsonRecord,
): Promise<string> {
  for (const field of ['apiVersion', 'kind']) {
    const value = sent[field] ?? '';
    if (typeof value !== 'string')
      return `${noVersion}json: cannot unmarshal ${jsonType(value)} into Go struct field .${field} of type string`;
  }
  const [apiVersion, kind] = [text(sent.apiVersion) ?? '', text(sent.kind) ?? ''];
  const { objectType, typeNameOf } = await import('../types/field-types.js');
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const known = objectType(typeNameOf({ group, version: version ?? '', kind: kind.replace(/List$/, '') }));
  if (known === undefined) {
    return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;
  }
  return `converting (${version}.${kind}) to (${packageOf(wanted.group)}.${wanted.kind}): unknown conversion`;
}

/** The Go package of a group's internal types. */
function packageOf(group: string): string {
  const [first = ''] = group.split('.');
  return first === '' || first === 'events' ? 'core' : first;
}

/** How a refusal begins where a body does not say what it is. */
export const noVersion = "couldn't get version/kind; json parse error: ";

export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
