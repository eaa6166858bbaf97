/** `/apis/apps/v1`, `/api/v1` */
export function rootOf(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** `rbacAuthorization_v1` */
export function tagOf(group: string, version: string): string {
  return `${groupTag(group)}_${version}`;
}

/** `rbacAuthorization` */
export function groupTag(group: string): string {
  const [first = '', ...rest] = groupWords(group);
  return [first, ...rest.map(capital)].join('');
}

/** `RbacAuthorization` */
export function groupPrefix(group: string): string {
  return groupWords(group).map(capital).join('');
}

function groupWords(group: string): readonly string[] {
  return group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split(/[^A-Za-z0-9_]+/);
}

export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
