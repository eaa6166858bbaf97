import { type ApiObject, at, type JsonRecord, records, text } from '../json.js';

const annotation = 'kubernetes.io/enforce-mountable-secrets';
/** What upstream takes for "true" (Go's ParseBool). */
const yes: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];

/** Secrets that a pod names and its account does not, where the account asks that this be refused. */
export function unreferencedSecrets(spec: JsonRecord, account: ApiObject): readonly string[] {
  if (!yes.includes(account.metadata.annotations?.[annotation] ?? '')) return [];
  const why = `is not allowed because service account ${account.metadata.name ?? ''} does not reference that`;
  const known = new Set(records(account.secrets).map(({ name }) => text(name) ?? ''));
  const pullSecrets = new Set(records(account.imagePullSecrets).map(({ name }) => text(name) ?? ''));
  const isUnknown = (name: string | undefined): name is string => name !== undefined && !known.has(name);

  const problems = records(spec.volumes).flatMap((volume) => {
    const name = text(at(volume, 'secret', 'secretName'));
    return isUnknown(name) ? [`volume with secret.secretName="${name}" ${why} secret`] : [];
  });
  for (const [field, kind] of [
    ['initContainers', 'init container'],
    ['containers', 'container'],
  ] as const) {
    for (const container of records(spec[field])) {
      const who = `${kind} ${text(container.name) ?? ''} with`;
      for (const variable of records(container.env)) {
        const name = text(at(variable, 'valueFrom', 'secretKeyRef', 'name'));
        const what = `envVar ${text(variable.name) ?? ''} referencing secret.secretName="${name ?? ''}"`;
        if (isUnknown(name)) problems.push(`${who} ${what} ${why} secret`);
      }
      for (const from of records(container.envFrom)) {
        const name = text(at(from, 'secretRef', 'name'));
        if (isUnknown(name)) problems.push(`${who} envFrom referencing secret.secretName="${name}" ${why} secret`);
      }
    }
  }
  records(spec.imagePullSecrets).forEach(({ name }, index) => {
    const told = text(name) ?? '';
    if (!pullSecrets.has(told)) problems.push(`imagePullSecrets[${index}].name="${told}" ${why} imagePullSecret`);
  });
  return problems;
}
