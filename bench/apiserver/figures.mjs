// The figures of an API server, one function each. Every one makes what it needs in a namespace of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, getOverHttp1, http1Agent } from './connection.mjs';
import { cpuMs } from './process-cost.mjs';

const oneKilobyte = 'x'.repeat(900);
const configMap = (name) => ({ metadata: { name }, data: { text: oneKilobyte } });
const configMaps = (namespace) => `/api/v1/namespaces/${namespace}/configmaps`;

export class Bench {
  constructor(kubeconfig, { pids, seconds }) {
    this.kubeconfig = kubeconfig;
    this.pids = pids;
    this.seconds = seconds;
    this.connection = new Connection(kubeconfig);
    this.id = Date.now().toString(36);
  }

  async namespace(name) {
    const full = `bench-${name}-${this.id}`;
    await this.connection.send('POST', '/api/v1/namespaces', { body: { metadata: { name: full } }, expected: 201 });
    return full;
  }

  /** Calls `act` with 0, 1, 2 … from so many callers at once, so often or for so long. */
  async rate(inFlight, act, { times = Infinity, seconds = this.seconds } = {}) {
    const begunMs = performance.now();
    const untilMs = times === Infinity ? begunMs + seconds * 1000 : Infinity;
    const cpuBefore = cpuMs(this.pids);
    let next = 0;
    let done = 0;
    const caller = async () => {
      while (next < times && performance.now() < untilMs) {
        await act(next++);
        done += 1;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
    const perSecond = (done * 1000) / (performance.now() - begunMs);
    return { perSecond, cpuMsEach: (cpuMs(this.pids) - cpuBefore) / done, done };
  }

  create(namespace, name) {
    return this.connection.send('POST', configMaps(namespace), { body: configMap(name), expected: 201 });
  }

  async creates(inFlight) {
    const namespace = await this.namespace(`create-${inFlight}`);
    return await this.rate(inFlight, (index) => this.create(namespace, `c-${index}`));
  }

  /** Gets and lists of 10,000 ConfigMaps of 1 KB. */
  async reads() {
    const namespace = await this.namespace('read');
    await this.rate(32, (index) => this.create(namespace, `c-${String(index).padStart(5, '0')}`), { times: 10_000 });
    const gets = await this.rate(32, () => this.connection.send('GET', `${configMaps(namespace)}/c-05000`));
    return {
      gets,
      fromCache: await this.lists(`${configMaps(namespace)}?resourceVersion=0`),
      latest: await this.lists(configMaps(namespace)),
    };
  }

  async lists(path) {
    const agent = http1Agent();
    const first = await getOverHttp1(this.kubeconfig, path, agent);
    const cpuBefore = cpuMs(this.pids);
    const times = 9;
    const replies = [];
    for (let round = 0; round < times; round += 1) replies.push(await getOverHttp1(this.kubeconfig, path, agent));
    agent.destroy();
    return {
      coldMs: first.totalMs,
      totalMs: median(replies.map(({ totalMs }) => totalMs)),
      firstMs: median(replies.map(({ firstMs }) => firstMs)),
      cpuMsEach: (cpuMs(this.pids) - cpuBefore) / times,
      bytes: first.bytes,
    };
  }

  /** From the sending of a create until a watcher has its event, for each of so many; and the floor's between them. */
  async watchLatency(watchers, writes, floor) {
    const namespace = await this.namespace(`watch-${watchers}`);
    const waiting = new Map();
    const connections = Array.from({ length: watchers }, () => new Connection(this.kubeconfig));
    const path = `${configMaps(namespace)}?watch=true&resourceVersion=0`;
    const onEvent = ({ object }, nowMs) => waiting.get(object.metadata.name)?.(nowMs);
    await Promise.all(connections.map((connection) => connection.watch(path, onEvent)));
    const delays = [];
    const floors = [];
    for (let index = 0; index < writes; index += 1) {
      const name = `w-${index}`;
      const begunMs = performance.now();
      let left = watchers;
      const heard = new Promise((resolve) => {
        waiting.set(name, (nowMs) => {
          delays.push(nowMs - begunMs);
          left -= 1;
          if (left === 0) resolve();
        });
      });
      await Promise.all([heard, this.create(namespace, name)]);
      await sleep(5);
      if (floor === undefined) continue;
      floors.push(await floor.write(configMap(name)));
      await sleep(5);
    }
    for (const connection of connections) connection.close();
    return {
      ...halfAndMost(delays),
      floor: halfAndMost(floors.map(({ ms }) => ms)),
      disk: halfAndMost(floors.map(({ diskMs }) => diskMs)),
    };
  }

  /** From the sending of a definition until an object of its kind was accepted. */
  async definitionToObject(kind) {
    const begunMs = performance.now();
    const group = `bench-${this.id}.example.com`;
    const plural = `${kind}s`;
    const schema = {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { text: { type: 'string', maxLength: 2000 }, count: { type: 'integer' } } },
      },
    };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind: kind[0].toUpperCase() + kind.slice(1), plural, singular: kind },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await this.connection.send('POST', definitions, { body: definition, expected: 201 });
    const path = `/apis/${group}/v1/namespaces/default/${plural}`;
    const create = (name) => {
      const { names } = definition.spec;
      const object = {
        apiVersion: `${group}/v1`,
        kind: names.kind,
        metadata: { name },
        spec: { text: oneKilobyte, count: 1 },
      };
      return this.connection.send('POST', path, { body: object, expected: 201 });
    };
    for (;;) {
      if (
        await create('first').then(
          () => true,
          () => false,
        )
      )
        break;
      if (performance.now() - begunMs > 30_000) throw new Error('no object was accepted within 30 s');
    }
    return { ms: performance.now() - begunMs, create };
  }

  /** CPU of each create while a namespace grows, in steps. */
  async costWhileGrowing(total, steps) {
    const namespace = await this.namespace('grow');
    const costs = [];
    for (let step = 0; step < steps; step += 1) {
      const offset = (step * total) / steps;
      const { cpuMsEach } = await this.rate(32, (index) => this.create(namespace, `g-${offset + index}`), {
        times: total / steps,
      });
      costs.push(cpuMsEach);
    }
    return costs;
  }

  close() {
    this.connection.close();
  }
}

function median(numbers) {
  return quantile(
    [...numbers].sort((left, right) => left - right),
    0.5,
  );
}

function halfAndMost(numbers) {
  const sorted = [...numbers].sort((left, right) => left - right);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
