import { hostname } from 'node:os';
import type { NodeStreams } from '@castellan/apiserver';
import type { Client } from '@castellan/client';
import { type PlaneControllers, planeControllers } from '@castellan/controllers';
import { createNodeAgent, type NodeAgent } from '@castellan/node';
import { createManager, type Manager } from '@castellan/runtime';
import { schedulerController } from '@castellan/scheduler';
import type { AddressPlan } from './address-plan.js';
import type { PlaneOptions } from './plane-options.js';

/** Everything of a plane that works on the API as its client. */
export interface Workers {
  readonly nodeStreams?: NodeStreams;
  working(): Promise<void>;
  stop(pods: 'keep' | 'stop'): Promise<void>;
}

export interface WorkersOptions extends PlaneOptions {
  readonly addresses: AddressPlan;
  readonly apiServer: { readonly host: string; readonly port: number };
  /** PEM. */
  readonly rootCertificate: string;
  /** Each part has a connection of its own: what one writes shows under its name in managedFields. */
  clientFor(userAgent: string): Client;
}

/**
 * Starts controllers, scheduler, node agent and operators. The operators have a manager of their own, as they would on any
 * other cluster; they end first, so that none of them acts on pods that are being stopped.
 */
export function startWorkers(options: WorkersOptions): Workers {
  const { world, log } = options;
  const planeClient = options.clientFor('castellan-plane');
  const operatorClient = options.clientFor('castellan-operator');
  const node = options.node ? nodeAgentOf(options, planeClient) : undefined;
  const { controllers, components } = options.controllers ? controllersOf(options, planeClient) : noControllers;
  const plane = createManager({
    client: planeClient,
    world,
    log,
    controllers: [...controllers, ...(node?.controllers ?? [])],
  });
  const operators = createManager({
    client: operatorClient,
    world,
    log,
    controllers: options.operators.flatMap((operator) => operator.controllers),
  });

  const stopPlane = new AbortController();
  const stopOperators = new AbortController();
  const fail = (error: unknown) => options.onFailure?.(error instanceof Error ? error : new Error(String(error)));
  const nodeStarted = (node?.start() ?? Promise.resolve()).then(() => undefined);
  nodeStarted.catch(fail);
  const planeRuns = nodeStarted.then(async () => {
    await Promise.all([
      runOrFail(plane, stopPlane.signal, fail),
      ...components.map((component) => component.run(stopPlane.signal).catch(fail)),
    ]);
  });
  planeRuns.catch(() => undefined);
  const operatorsRun = runOrFail(operators, stopOperators.signal, fail);

  return {
    ...(node === undefined ? {} : { nodeStreams: node }),
    async working() {
      await nodeStarted;
      await Promise.all([plane.ready(), operators.ready()]);
    },
    async stop(pods) {
      stopOperators.abort();
      await operatorsRun;
      await operatorClient.close();
      await nodeStarted.catch(() => undefined);
      stopPlane.abort();
      await planeRuns.catch(() => undefined);
      await node?.stop({ pods });
      await planeClient.close();
    },
  };
}

const noControllers: PlaneControllers = { controllers: [], components: [] };

function controllersOf({ world, log, rootCertificate }: WorkersOptions, client: Client): PlaneControllers {
  const { controllers, components } = planeControllers({ client, world, log, rootCertificate });
  return { controllers: [...controllers, schedulerController()], components };
}

function nodeAgentOf(options: WorkersOptions, client: Client): NodeAgent {
  return createNodeAgent({
    client,
    world: options.world,
    log: options.log,
    dataDirectory: options.dataDirectory,
    nodeName: hostname().toLowerCase(),
    podCidr: options.addresses.podCidr,
    serviceCidr: options.addresses.serviceCidr,
    clusterDomain: 'cluster.local',
    apiServer: options.apiServer,
  });
}

/** A manager that ends by itself has failed: without it the plane does nothing. */
async function runOrFail(manager: Manager, signal: AbortSignal, fail: (error: unknown) => void): Promise<void> {
  await manager.run(signal).catch(fail);
}
