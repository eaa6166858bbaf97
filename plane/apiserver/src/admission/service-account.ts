import { forbidden } from '../errors.js';
import { type ApiObject, at, type JsonRecord, list, record, records, text } from '../json.js';
import type { AdmissionChange, AdmissionWrite } from '../registry/admission-control.js';
import { type AdmissionContext, type AdmissionPlugin, isCreateOf } from './admission-plugin.js';
import { unreferencedSecrets } from './mountable-secrets.js';
import { withTokenVolume } from './token-volume.js';

/** How often, and how far apart, the account `default` of a new namespace is looked for: its controller is on the way. */
const accountAttempts = 10;
const accountRetryMs = 100;

/**
 * ServiceAccount: a pod runs as an account that is there, pulls its images with the account's secrets, and finds a token
 * of the account in its containers.
 */
export const serviceAccount: AdmissionPlugin = {
  handles: (write) => isCreateOf(write, '', 'pods'),
  async mutate(write, context) {
    const { object } = write;
    if (isMirror(object)) return object;
    const name = text(at(object, 'spec', 'serviceAccountName')) || 'default';
    const account = await accountOf(write, context, name);
    const secrets = list(account.imagePullSecrets);
    const own = list(at(object, 'spec', 'imagePullSecrets'));
    const spec = {
      ...record(object.spec),
      serviceAccountName: name,
      serviceAccount: name,
      ...(own.length > 0 || secrets.length === 0 ? {} : { imagePullSecrets: secrets }),
    };
    return { ...object, spec: getsToken(spec, account) ? withTokenVolume(spec, context.server.world.random) : spec };
  },
  async validate(write, context) {
    const { object, definition, name } = write;
    if (object === undefined) return;
    const refuse = (problem: string) => forbidden(definition, name, problem);
    if (isMirror(object)) {
      const problem = mirrorProblem(record(object.spec));
      if (problem !== undefined) throw refuse(problem);
      return;
    }
    const account = await accountOf(write, context, text(at(object, 'spec', 'serviceAccountName')) ?? '');
    const [problem] = unreferencedSecrets(record(object.spec), account);
    if (problem !== undefined) throw refuse(problem);
  },
};

/** A pod that mirrors one of a node's own has no account, and nothing else of the API. */
function isMirror({ metadata }: ApiObject): boolean {
  return metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
}

function mirrorProblem(spec: JsonRecord): string | undefined {
  if ((text(spec.serviceAccountName) ?? '') !== '') return 'a mirror pod may not reference service accounts';
  const volumes = records(spec.volumes);
  const tells = (fields: readonly string[]) => volumes.some((volume) => fields.some((field) => volume[field] != null));
  const projects = (field: string) =>
    volumes.some((volume) => records(at(volume, 'projected', 'sources')).some((source) => source[field] != null));
  if (tells(['secret']) || projects('secret')) return 'a mirror pod may not reference secrets';
  if (projects('serviceAccountToken')) return 'a mirror pod may not use ServiceAccountToken volume projections';
  return undefined;
}

/** The pod's own word counts before the account's. */
function getsToken(spec: JsonRecord, account: ApiObject): boolean {
  return (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) === true;
}

async function accountOf(
  write: AdmissionChange | AdmissionWrite,
  { server }: AdmissionContext,
  name: string,
): Promise<ApiObject> {
  const namespace = write.namespace ?? '';
  const attempts = name === 'default' ? accountAttempts : 1;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const account = await server.tokens.find('serviceaccounts', namespace, name);
    if (account !== undefined) return account;
    if (attempt < attempts) await server.world.clock.sleep(accountRetryMs);
  }
  const problem = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
  throw forbidden(write.definition, write.name, problem);
}
