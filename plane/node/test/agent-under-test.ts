import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Container, type ContainerStatus, eventsV1, type Pod, type PodSpec, pods } from '@castellan/machinery';
import { createLog, createManager } from '@castellan/runtime';
import { realWorld, type World } from '@castellan/world';
import { createMachine, type MachineOptions, type NodeAgent } from '../src/index.js';
import { rangesOf, until, withDataDirectory } from './machine.js';
import { SimulatedCluster } from './simulated-cluster.js';

export interface AgentUnderTest {
  readonly cluster: SimulatedCluster;
  readonly agent: NodeAgent;
  pod(name: string): Promise<Pod | undefined>;
  /** Waits until the pod is as `condition` wants it; the failure shows the pod's status. */
  podThat(name: string, what: string, condition: (pod: Pod) => boolean): Promise<Pod>;
  podGone(name: string): Promise<void>;
  /** Waits until the log of the container `main` is this. */
  logIs(
    name: string,
    expected: string,
    options?: { readonly previous?: boolean; readonly tailLines?: number },
  ): Promise<void>;
  /** `REASON message` of each event about an object. */
  eventsOf(name: string): Promise<readonly string[]>;
  stop(how: 'keep' | 'stop'): Promise<void>;
}

const silent = { write: () => undefined, world: realWorld() };

export interface AgentOptions extends Pick<MachineOptions, 'serviceProxy' | 'images'> {
  readonly cluster?: SimulatedCluster;
  readonly withServices?: boolean;
  readonly world?: World;
}

/** An agent with a manager over a simulated cluster, on the real machine. */
export async function startAgent(directory: string, options: AgentOptions = {}): Promise<AgentUnderTest> {
  const cluster = options.cluster ?? new SimulatedCluster();
  const world = options.world ?? realWorld();
  const log = createLog(process.env.CASTELLAN_TEST_LOG === undefined ? silent : { write: console.error, world });
  const ranges = rangesOf(directory);
  const machine = createMachine({
    nodes: [{ name: 'node-a', connect: async () => cluster }],
    world,
    log,
    dataDirectory: directory,
    podCidr: ranges.podCidr,
    ...(options.withServices === true ? { serviceCidr: ranges.serviceCidr } : {}),
    apiServer: { host: '127.0.0.1', port: 1 },
    ...(options.images === undefined ? {} : { images: options.images }),
    ...(options.serviceProxy === undefined ? {} : { serviceProxy: options.serviceProxy }),
  });
  await machine.start();
  const agent = machine.node('node-a');
  const abort = new AbortController();
  const manager = createManager({ wholeCache: true, client: cluster, world, log, controllers: machine.controllers });
  const running = manager.run(abort.signal);
  await manager.ready();
  const find = (name: string) => cluster.find(pods, { namespace: 'default', name });
  return {
    cluster,
    agent,
    pod: find,
    async podThat(name, what, condition) {
      try {
        return await until(`pod ${name} ${what}`, async () => {
          const pod = await find(name);
          return pod !== undefined && condition(pod) ? pod : undefined;
        });
      } catch (error) {
        const status = JSON.stringify((await find(name))?.status, null, 1);
        throw new Error(`${error instanceof Error ? error.message : error}; its status is ${status}`);
      }
    },
    async podGone(name) {
      await until(`pod ${name} to be gone`, async () => (await find(name)) === undefined);
    },
    async logIs(name, expected, { previous = false, tailLines } = {}) {
      const request = {
        namespace: 'default',
        pod: name,
        container: 'main',
        follow: false,
        previous,
        timestamps: false,
      };
      const all = { ...request, ...(tailLines === undefined ? {} : { tailLines }) };
      let last = '';
      const isThere = async () => {
        // An agent that has just begun may not have come to the pod yet, and says that it has none of that name.
        last = await textOf(agent.logs(all, AbortSignal.timeout(30_000))).catch(String);
        return last === expected;
      };
      await until(`the log of ${name} to be ${JSON.stringify(expected)}`, isThere).catch((error: Error) => {
        throw new Error(`${error.message}; it is ${JSON.stringify(last)}`);
      });
    },
    async eventsOf(name) {
      const { items } = await cluster.list(eventsV1);
      return items.filter(({ regarding }) => regarding?.name === name).map(({ reason, note }) => `${reason} ${note}`);
    },
    async stop(how) {
      abort.abort();
      await running;
      await machine.stop({ pods: how });
    },
  };
}

/** The body of a test with an agent of its own, of which nothing is left afterwards. */
export function withAgent(
  body: (agent: AgentUnderTest, directory: string) => Promise<void>,
  optionsFor: (directory: string) => AgentOptions = () => ({}),
): () => Promise<void> {
  return () =>
    withDataDirectory(async (directory) => {
      const agent = await startAgent(directory, optionsFor(directory));
      try {
        await body(agent, directory);
      } finally {
        await agent.stop('stop');
      }
    });
}

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** For a container's script: it goes on when `openGate` is called, and ends with that status. */
export const waitAtGate = 'mkfifo /tmp/gate; read code </tmp/gate; exit $code';

/** Lets the container `main` go on that waits at its gate, at its start number `attempt`. */
export async function openGate(directory: string, pod: Pod, status: number, attempt = 0): Promise<void> {
  const gate = join(directory, 'pods', pod.metadata.uid ?? '', `containers/main/${attempt}/layer/tmp/gate`);
  const file = await until('somebody at the gate', () => openedIfAwaited(gate));
  writeSync(file, `${status}\n`);
  closeSync(file);
}

/** A pipe with nobody at its other end would hold up this process, and with it the deadline. */
function openedIfAwaited(gate: string): number | undefined {
  try {
    return openSync(gate, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

export function shellPod(
  name: string,
  script: string,
  rest: Partial<PodSpec> & { readonly main?: Partial<Container> } = {},
): Pod {
  const { main, ...spec } = rest;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: {
      nodeName: 'node-a',
      terminationGracePeriodSeconds: 3,
      containers: [{ name: 'main', image: 'busybox:1.28', command: ['/bin/sh', '-c', script], ...main }],
      ...spec,
    },
  };
}

export function isReady(pod: Pod): boolean {
  return conditionOf(pod, 'Ready') === 'True';
}

export function conditionOf(pod: Pod, type: string): string | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type)?.status;
}

/** Of the container `main`; as if it had never been started while the pod has no status. */
export function mainStatus(pod: Pod): ContainerStatus {
  const none = { name: 'main', image: '', imageID: '', ready: false, restartCount: 0 };
  return pod.status?.containerStatuses?.find(({ name }) => name === 'main') ?? none;
}
