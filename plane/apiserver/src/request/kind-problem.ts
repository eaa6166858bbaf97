interface KindOfObject {
  readonly kind: string;
  readonly apiVersion: string;
}

/** What Go says of an object that is of another kind than the one that is wanted. */
export async function kindProblem(wanted: { readonly group: string; readonly kind: string }, sent: KindOfObject) {
  const { objectType, typeNameOf } = await import('../types/field-types.js');
  const [group = '', version] = sent.apiVersion.includes('/') ? sent.apiVersion.split('/') : ['', sent.apiVersion];
  const known = objectType(typeNameOf({ group, version: version ?? '', kind: sent.kind.replace(/List$/, '') }));
  if (known === undefined) {
    return `no kind "${sent.kind}" is registered for version "${sent.apiVersion}" in scheme "pkg/api/legacyscheme/scheme.go:30"`;
  }
  return `converting (${version}.${sent.kind}) to (${packageOf(wanted.group)}.${wanted.kind}): unknown conversion`;
}

/** The Go package of a group's internal types. */
function packageOf(group: string): string {
  const [first = ''] = group.split('.');
  return first === '' || first === 'events' ? 'core' : first;
}
