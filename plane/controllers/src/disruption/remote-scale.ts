import type { ObjectKey, OwnerReference } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { fieldOf, listAt, textAt } from '../document.js';
import { BudgetError } from './budget-error.js';

/**
 * How many pods an object of any kind wants, by its scale subresource; `undefined`: there is no such object.
 *
 * @throws BudgetError when its kind is not served, or has no scale.
 */
export async function remoteScale(owner: OwnerReference, key: ObjectKey, context: ReconcileContext) {
  const base = owner.apiVersion.includes('/') ? `/apis/${owner.apiVersion}` : `/api/${owner.apiVersion}`;
  const resources = listAt(await getJson(base, context), 'resources');
  const names = resources.map((each) => textAt(each, 'name'));
  const plural = resources
    .filter((each) => textAt(each, 'kind') === owner.kind)
    .map((each) => textAt(each, 'name') ?? '')
    .find((name) => !name.includes('/'));
  if (plural === undefined)
    throw new BudgetError(`no matches for kind "${owner.kind}" in version "${owner.apiVersion}"`);
  if (!names.includes(`${plural}/scale`)) {
    const [group = ''] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : [];
    throw new BudgetError(`${group === '' ? plural : `${plural}.${group}`} does not implement the scale subresource`);
  }
  const name = encodeURIComponent(key.name);
  const scale = await getJson(`${base}/namespaces/${key.namespace ?? ''}/${plural}/${name}/scale`, context);
  const replicas = fieldOf(fieldOf(scale, 'spec'), 'replicas');
  const uid = textAt(fieldOf(scale, 'metadata'), 'uid');
  return uid === undefined ? undefined : { uid, replicas: typeof replicas === 'number' ? replicas : 0 };
}

/** `undefined`: there is nothing at this path. */
async function getJson(path: string, { client, signal }: ReconcileContext): Promise<unknown> {
  const reply = await client.request({ method: 'GET', path, headers: { accept: 'application/json' }, signal });
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.body) chunks.push(chunk);
  if (reply.status === 404) return undefined;
  const text = Buffer.concat(chunks).toString('utf8');
  if (reply.status !== 200) throw new Error(`GET ${path} answered ${reply.status}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}
