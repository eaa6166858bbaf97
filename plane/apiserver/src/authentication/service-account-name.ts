const prefix = 'system:serviceaccount:';

/** The account that a user name stands for: `system:serviceaccount:NAMESPACE:NAME`. */
export function serviceAccountOf(userName: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(prefix)) return undefined;
  const [namespace, name, ...rest] = userName.slice(prefix.length).split(':');
  if (!namespace || !name || rest.length > 0) return undefined;
  return { namespace, name };
}

export function serviceAccountUserName(namespace: string, name: string): string {
  return `${prefix}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
