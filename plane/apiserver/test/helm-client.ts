import assert from 'node:assert/strict';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { ServerUnderTest, TestReply } from './server-under-test.js';

// biome-ignore lint/suspicious/noExplicitAny: manifests are of every kind
export type Manifest = any;

/** A rendered chart. */
export interface Chart {
  readonly crds: readonly Manifest[];
  readonly manifests: readonly Manifest[];
  readonly hooks: readonly Manifest[];
}

interface Release {
  readonly name: string;
  readonly version: number;
  readonly namespace: string;
  readonly info: { readonly status: string };
  readonly manifests: readonly Manifest[];
}

const plurals: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  CustomResourceDefinition: 'customresourcedefinitions',
  Deployment: 'deployments',
  Job: 'jobs',
  Knob: 'knobs',
  Service: 'services',
};
const clusterWide = ['CustomResourceDefinition'];
const mergeKeys: Readonly<Record<string, string>> = { containers: 'name', env: 'name', volumes: 'name', ports: 'port' };
const prefer = (candidates: readonly string[]) => `application/json;${candidates.join(';')}`;

/**
 * The requests that Helm 3 makes (its action and kube packages), and no more of Helm: release secrets, discovery and schemas,
 * CRDs first, hooks, three-way strategic merge patches. `serverSide` applies as Helm 4 does.
 */
export class HelmClient {
  readonly #server: ServerUnderTest;
  readonly #namespace: string;

  constructor(server: ServerUnderTest, namespace: string) {
    this.#server = server;
    this.#namespace = namespace;
  }

  async install(name: string, chart: Chart, onHook: (path: string) => Promise<void>): Promise<void> {
    await this.#lookAtServer();
    assert.deepEqual(await this.history(name), []);
    for (const crd of chart.crds) {
      await this.#ok('POST', this.#collection(crd), crd);
      await this.#established(this.#path(crd));
    }
    for (const manifest of chart.manifests) {
      assert.equal((await this.#send('GET', this.#path(manifest))).status, 404);
    }
    const release = this.#release(name, 1, chart);
    await this.#store('POST', release, 'pending-install');
    await this.#runHooks(chart, 'pre-install', onHook);
    for (const manifest of chart.manifests) {
      await this.#ok('POST', `${this.#collection(manifest)}?fieldManager=helm`, manifest);
    }
    await this.#store('PUT', release, 'deployed');
  }

  async upgrade(name: string, chart: Chart): Promise<void> {
    await this.#lookAtServer();
    const deployed = (await this.history(name)).findLast(({ info }) => info.status === 'deployed');
    assert.ok(deployed !== undefined, 'no deployed release');
    await this.#change(deployed, chart.manifests);
  }

  /** Back to what an earlier version of the release had. */
  async rollback(name: string, version: number): Promise<void> {
    const history = await this.history(name);
    const wanted = history.find((release) => release.version === version);
    const deployed = history.findLast(({ info }) => info.status === 'deployed');
    assert.ok(wanted !== undefined && deployed !== undefined, 'no such release');
    await this.#change(deployed, wanted.manifests);
  }

  async uninstall(name: string): Promise<void> {
    const history = await this.history(name);
    const deployed = history.findLast(({ info }) => info.status === 'deployed');
    assert.ok(deployed !== undefined, 'no deployed release');
    await this.#store('PUT', deployed, 'uninstalling');
    for (const manifest of deployed.manifests.toReversed()) await this.#remove(manifest);
    for (const { version } of history) await this.#ok('DELETE', this.#secretPath(name, version));
  }

  /** As Helm 4 installs and upgrades: every manifest applied by the server. */
  async serverSide(manifests: readonly Manifest[], isForced = false): Promise<readonly TestReply[]> {
    const replies: TestReply[] = [];
    for (const manifest of manifests) {
      const path = `${this.#path(manifest)}?fieldManager=helm&force=${isForced}`;
      const headers = { 'content-type': 'application/apply-patch+yaml' };
      replies.push(await this.#server.send('PATCH', path, JSON.stringify(manifest), headers));
    }
    return replies;
  }

  /** All versions of a release, the oldest first. */
  async history(name: string): Promise<readonly Release[]> {
    const selector = encodeURIComponent(`name=${name},owner=helm`);
    const { json } = await this.#ok('GET', `${this.#secrets()}?labelSelector=${selector}`);
    const releases: Release[] = json.items.map((secret: Manifest) => {
      assert.equal(secret.type, 'helm.sh/release.v1');
      const packed = Buffer.from(Buffer.from(secret.data.release, 'base64').toString(), 'base64');
      return JSON.parse(gunzipSync(packed).toString());
    });
    return releases.sort((left, right) => left.version - right.version);
  }

  async #change(from: Release, manifests: readonly Manifest[]): Promise<void> {
    const release = this.#release(from.name, (await this.history(from.name)).length + 1, { manifests });
    await this.#store('POST', release, 'pending-upgrade');
    for (const manifest of manifests) await this.#patch(this.#of(from, manifest), manifest);
    for (const old of from.manifests) if (this.#of(release, old) === undefined) await this.#remove(old);
    await this.#store('PUT', from, 'superseded');
    await this.#store('PUT', release, 'deployed');
  }

  async #patch(old: Manifest, wanted: Manifest): Promise<void> {
    const path = this.#path(wanted);
    const live = await this.#send('GET', path);
    if (live.status === 404) {
      await this.#ok('POST', `${this.#collection(wanted)}?fieldManager=helm`, wanted);
      return;
    }
    const patch = threeWayPatch(old, wanted, live.json);
    if (Object.keys(patch).length === 0) return;
    const isBuiltIn = !String(wanted.apiVersion).includes('example.com');
    const type = isBuiltIn ? 'strategic-merge-patch' : 'merge-patch';
    const headers = { 'content-type': `application/${type}+json` };
    const reply = await this.#server.send('PATCH', `${path}?fieldManager=helm`, patch, headers);
    assert.equal(reply.status, 200, reply.text);
  }

  async #remove(manifest: Manifest): Promise<void> {
    const { status, json } = await this.#send('GET', this.#path(manifest));
    if (status === 404 || json.metadata.annotations?.['helm.sh/resource-policy'] === 'keep') return;
    await this.#ok('DELETE', this.#path(manifest), {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      propagationPolicy: 'Background',
    });
  }

  /** A hook's old object is removed before, and the new one after it has succeeded. */
  async #runHooks(chart: Chart, moment: string, onHook: (path: string) => Promise<void>): Promise<void> {
    for (const hook of chart.hooks.filter(({ metadata }) => metadata.annotations['helm.sh/hook'] === moment)) {
      await this.#remove(hook);
      await this.#ok('POST', `${this.#collection(hook)}?fieldManager=helm`, hook);
      const selector = `fieldSelector=metadata.name%3D${hook.metadata.name}`;
      const { json } = await this.#ok('GET', `${this.#collection(hook)}?${selector}`);
      const from = `resourceVersion=${json.metadata.resourceVersion}`;
      const watch = this.#server.watch(`${this.#collection(hook)}?${selector}&${from}&watch=true`);
      await watch.status;
      await onHook(this.#path(hook));
      const isDone = (object: Manifest) =>
        object.status?.conditions?.some((each: Manifest) => each.type === 'Complete' && each.status === 'True');
      while (!isDone((await watch.next()).object));
      watch.close();
      await this.#remove(hook);
    }
  }

  async #established(path: string): Promise<void> {
    const watch = this.#server.watch(`${path.replace(/\/[^/]+$/, '')}?watch=true&resourceVersion=0`);
    const isEstablished = ({ object }: Manifest) =>
      path.endsWith(`/${object.metadata.name}`) &&
      object.status?.conditions?.some((each: Manifest) => each.type === 'Established' && each.status === 'True');
    while (!isEstablished(await watch.next()));
    watch.close();
  }

  /** What Helm wants to know before it does anything. */
  async #lookAtServer(): Promise<void> {
    assert.match((await this.#ok('GET', '/version')).json.gitVersion, /^v\d+\.\d+\.\d+/);
    const accept = prefer(['g=apidiscovery.k8s.io', 'v=v2', 'as=APIGroupDiscoveryList']);
    for (const path of ['/api', '/apis']) {
      const { json } = await this.#ok('GET', path, undefined, { accept });
      assert.equal(json.kind, 'APIGroupDiscoveryList');
    }
    const { json } = await this.#ok('GET', '/openapi/v3');
    const { serverRelativeURL } = json.paths['apis/apps/v1'];
    const document = await this.#ok('GET', serverRelativeURL);
    assert.ok('io.k8s.api.apps.v1.Deployment' in document.json.components.schemas);
  }

  #release(name: string, version: number, chart: Pick<Chart, 'manifests'>): Release {
    return { name, version, namespace: this.#namespace, info: { status: '' }, manifests: chart.manifests };
  }

  async #store(method: 'POST' | 'PUT', release: Release, status: string): Promise<void> {
    const { name, version } = release;
    const content = JSON.stringify({ ...release, info: { status } });
    const packed = Buffer.from(gzipSync(content).toString('base64')).toString('base64');
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `sh.helm.release.v1.${name}.v${version}`,
        labels: { name, owner: 'helm', status, version: String(version) },
      },
      type: 'helm.sh/release.v1',
      data: { release: packed },
    };
    await this.#ok(method, method === 'POST' ? this.#secrets() : this.#secretPath(name, version), secret);
  }

  #of({ manifests }: Pick<Release, 'manifests'>, wanted: Manifest): Manifest {
    return manifests.find((each) => this.#path(each) === this.#path(wanted));
  }

  #secrets(): string {
    return `/api/v1/namespaces/${this.#namespace}/secrets`;
  }

  #secretPath(name: string, version: number): string {
    return `${this.#secrets()}/sh.helm.release.v1.${name}.v${version}`;
  }

  #collection({ apiVersion, kind }: Manifest): string {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const plural = plurals[kind];
    return clusterWide.includes(kind) ? `${root}/${plural}` : `${root}/namespaces/${this.#namespace}/${plural}`;
  }

  #path(manifest: Manifest): string {
    return `${this.#collection(manifest)}/${manifest.metadata.name}`;
  }

  async #ok(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) {
    const reply = await this.#server.send(method, path, body, headers);
    assert.ok(reply.status >= 200 && reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  }

  #send(method: string, path: string): Promise<TestReply> {
    return this.#server.send(method, path);
  }
}

/** What is to change in the live object: what is wanted, without what was there before and is wanted no more. */
function threeWayPatch(old: Manifest, wanted: Manifest, live: Manifest): Manifest {
  const patch: Manifest = {};
  for (const [key, value] of Object.entries(wanted)) {
    const mergeKey = mergeKeys[key];
    if (Array.isArray(value) && Array.isArray(live?.[key]) && mergeKey !== undefined && hasKey(value, mergeKey)) {
      const items = listPatch(old?.[key] ?? [], value, live[key], mergeKey);
      if (items.length === 0) continue;
      patch[key] = items;
      patch[`$setElementOrder/${key}`] = value.map((item) => ({ [mergeKey]: item[mergeKey] }));
    } else if (isObject(value) && isObject(live?.[key])) {
      const below = threeWayPatch(old?.[key], value, live[key]);
      if (Object.keys(below).length > 0) patch[key] = below;
    } else if (JSON.stringify(value) !== JSON.stringify(live?.[key])) patch[key] = value;
  }
  for (const key of Object.keys(old ?? {})) if (!(key in wanted) && key in (live ?? {})) patch[key] = null;
  return patch;
}

function listPatch(old: readonly Manifest[], wanted: readonly Manifest[], live: readonly Manifest[], key: string) {
  const same = (list: readonly Manifest[], item: Manifest) => list.find((other) => other[key] === item[key]);
  const changed = wanted.flatMap((item) => {
    const below = threeWayPatch(same(old, item), item, same(live, item));
    return Object.keys(below).length === 0 ? [] : [{ ...below, [key]: item[key] }];
  });
  const gone = old.filter((item) => same(wanted, item) === undefined && same(live, item) !== undefined);
  return [...changed, ...gone.map((item) => ({ $patch: 'delete', [key]: item[key] }))];
}

function hasKey(items: readonly unknown[], key: string): boolean {
  return items.every((item) => isObject(item) && key in item);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
