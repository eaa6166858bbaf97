import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { type Client, connect, loadKubeconfig } from '@castellan/client';
import { etcdAdmin, etcdOperator, type JsonPost } from '@castellan/etcd';
import { customResourceDefinitions, events, type KubernetesObject } from '@castellan/machinery';
import { createLog, createManager } from '@castellan/runtime';
import { waitFor } from '@castellan/world';
import {
  clusterKey,
  etcdClusters,
  memberPods,
  membersOutOfReach,
  seedManifest,
  waitForMembers,
} from './etcd-instance.js';
import { PlaneProcess, world } from './plane-process.js';

const longestLifeMs = 60_000;
let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none']);
  const client = await plane.client();
  for (const definition of etcdOperator().customResourceDefinitions) {
    await client.create<KubernetesObject>(customResourceDefinitions, definition);
  }
});
after(async () => await plane.remove());

/** One life of the operator, in this process: it dies right after its first write, to the API or to etcd. */
class MortalOperator {
  readonly #death = new AbortController();
  /** The write it died of. */
  lastWrite: string | undefined;

  /** Runs until the first write has been made, or `isDone` is true. */
  async live(isDone: () => Promise<boolean>): Promise<void> {
    const connection = connect(await loadKubeconfig(plane.kubeconfig), { world });
    const [operator] = [etcdOperator({ admin: etcdAdmin({ post: this.#mortalPost() }) })];
    const manager = createManager({
      wholeCache: true,
      client: this.#mortalClient(connection),
      world,
      controllers: operator.controllers,
      log: createLog({ world, write: () => undefined }),
    });
    const life = manager.run(this.#death.signal);
    try {
      await waitFor(world, async () => this.#death.signal.aborted || (await isDone()), {
        what: 'the operator to write something, or to have nothing left to do',
        deadlineMs: longestLifeMs,
      });
    } finally {
      this.#death.abort();
      await life.catch(() => undefined);
      await connection.close();
    }
  }

  #die(write: string): never {
    this.lastWrite ??= write;
    this.#death.abort();
    throw new Error(`the operator was killed after ${write}`);
  }

  #assertAlive(): void {
    if (this.#death.signal.aborted) throw new Error('the operator is dead');
  }

  #mortalClient(client: Client): Client {
    const killing =
      <Args extends readonly unknown[], Result>(name: string, call: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        this.#assertAlive();
        const result = await call(...args);
        // Events are told beside the work; a life in which only an event was written would be no life.
        const [type] = args;
        if (typeof type === 'object' && type !== null && 'plural' in type && type.plural === events.plural)
          return result;
        return this.#die(`${name} ${JSON.stringify(type)}`);
      };
    return {
      get: client.get.bind(client),
      find: client.find.bind(client),
      list: client.list.bind(client),
      watch: client.watch.bind(client),
      request: client.request.bind(client),
      close: client.close.bind(client),
      create: killing('create', client.create.bind(client)) as Client['create'],
      update: killing('update', client.update.bind(client)) as Client['update'],
      patch: killing('patch', client.patch.bind(client)) as Client['patch'],
      delete: killing('delete', client.delete.bind(client)) as Client['delete'],
    };
  }

  #mortalPost(): JsonPost {
    return async (url, body, { deadlineMs }) => {
      this.#assertAlive();
      const reply = await postOnce(url, body, deadlineMs);
      const isChange = /member\/(add|promote|remove)$|transfer-leadership$/.test(url);
      if (isChange && reply.status === 200) return this.#die(`POST ${url}`);
      return reply;
    };
  }
}

function postOnce(url: string, body: string, deadlineMs: number): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      { method: 'POST', agent: false, signal: AbortSignal.timeout(deadlineMs) },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }));
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Lives and dies until the instance has `size` members and a whole life passes without a write. */
async function untilSettled(size: number): Promise<readonly string[]> {
  const client = await plane.client();
  const deaths: string[] = [];
  for (let life = 0; life < 150; life += 1) {
    const operator = new MortalOperator();
    const bornMs = world.clock.monotonicNow();
    await operator.live(async () => {
      if (world.clock.monotonicNow() - bornMs < 3_000) return false;
      const instance = await client.find(etcdClusters, clusterKey);
      return instance?.status?.members?.ready?.length === size && instance.status.phase === 'Running';
    });
    if (operator.lastWrite === undefined) return deaths;
    deaths.push(operator.lastWrite);
  }
  throw new Error(`the operator still writes after ${deaths.length} lives; the last: ${deaths.slice(-5).join('; ')}`);
}

test('an operator that is killed after every single write makes the cluster it was asked for, once', {
  skip: membersOutOfReach,
}, async (context) => {
  await plane.apply({ file: seedManifest });
  const deaths = await untilSettled(3);
  context.diagnostic(`3 members after ${deaths.length} deaths`);
  for (const write of [/member\/add/, /member\/promote/, /"pods"/, /"services"/, /"etcdclusters"/]) {
    assert.ok(
      deaths.some((death) => write.test(death)),
      `it was killed after ${write}: ${deaths.join('\n')}`,
    );
  }
  const client = await plane.client();
  await waitForMembers(client, 3, { deadlineMs: 60_000 });
  assert.equal((await memberPods(client)).length, 3, 'no pod too many');
});

test('killed after every write of a scale-in, it ends with the members it was asked for', {
  skip: membersOutOfReach,
}, async () => {
  const client = await plane.client();
  await client.patch(etcdClusters, clusterKey, { type: 'merge', body: { spec: { size: 1 } } });
  const deaths = await untilSettled(1);
  assert.ok(deaths.some((death) => /member\/remove/.test(death)));
  await waitFor(world, async () => (await memberPods(client)).length === 1, {
    what: 'one pod to be left',
    deadlineMs: 60_000,
  });
  await waitForMembers(client, 1, { deadlineMs: 60_000 });
});
