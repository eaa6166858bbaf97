import { hostname } from 'node:os';
import type { Authority } from '@castellan/apiserver';
import type { Client } from '@castellan/client';
import { type PlaneControllers, planeControllers } from '@castellan/controllers';
import { createMachine, type Machine, type StartedMachine } from '@castellan/node';
import {
  type Controller,
  createManager,
  type Manager,
  type ManagerOptions,
  type Operator,
  operatorWebhooks,
} from '@castellan/runtime';
import { schedulerController } from '@castellan/scheduler';
import type { AddressPlan } from './address-plan.js';
import type { PlaneOptions } from './plane-options.js';
import type { RememberedNode } from './remembered-nodes.js';
import { type Duty, type Term, Turns } from './turns.js';

/** Everything of a plane that works on the API as its client. */
export interface Workers {
  /** Undefined where the plane runs no nodes. */
  readonly machine: Machine | undefined;
  /** Resolves when the machine's nodes have started, with where pods reach the API server; without any, with nothing. */
  readonly machineStarted: Promise<StartedMachine | undefined>;
  /** Those that run now. */
  managers(): Iterable<Manager>;
  working(): Promise<void>;
  stop(pods: 'keep' | 'stop'): Promise<void>;
}

export interface WorkersOptions extends PlaneOptions {
  /** Other planes may work on the same objects. */
  readonly isShared: boolean;
  readonly addresses: AddressPlan;
  readonly apiServer: { readonly host: string; readonly port: number };
  /** Signed the API server's certificate, and signs what CertificateSigningRequests ask for. */
  readonly authority: Authority;
  /** Each part has a connection of its own: what one writes shows under its name in managedFields. */
  clientFor(userAgent: string): Client;
  /** Those of this machine. */
  readonly nodeList: readonly RememberedNode[];
  /** Connects as a node of this machine. */
  nodeClient(name: string): Promise<Client>;
}

/**
 * Starts controllers, scheduler, node agent and operators. The operators have managers of their own, as they would on any
 * other cluster; they end first, so that none of them acts on pods that are being stopped.
 *
 * Over a shared storage each plane runs its own node agent, and controllers and each operator run on one plane at a time.
 */
export function startWorkers(options: WorkersOptions): Workers {
  const { world, log, isShared } = options;
  const managers = new Set<Manager>();
  const planeClient = options.clientFor('castellan-plane');
  const operatorClient = options.clientFor('castellan-operator');
  const machine = options.node ? machineFor(options) : undefined;
  const identity = `${hostname().toLowerCase()}_${world.random.uuid()}`;
  const workOf = (duty: Duty, client: Client): Work =>
    isShared ? new Turns(duty, { client, world, log, identity }) : alone(duty);
  const nodeControllers = machine?.controllers ?? [];
  const isTogether = options.controllers && !isShared;
  const plane = [
    ...(options.controllers
      ? [workOf(controllersDuty({ ...options, managers }, planeClient, isTogether ? nodeControllers : []), planeClient)]
      : []),
    ...(isTogether
      ? []
      : [alone({ begin: () => termOf({ ...options, managers }, planeClient, { controllers: nodeControllers }) })]),
  ];
  const operators = options.operators.map((operator) => {
    const begin = () => termOf({ ...options, managers }, operatorClient, operatorParts(operator));
    return workOf({ lease: `castellan-operator-${operator.name}`, begin }, operatorClient);
  });

  const stopPlane = new AbortController();
  const stopOperators = new AbortController();
  const fail = (error: unknown) => options.onFailure?.(error instanceof Error ? error : new Error(String(error)));
  const runAll = (works: readonly Work[], signal: AbortSignal) =>
    Promise.all(works.map((work) => work.run(signal).catch(fail)));
  const machineStarted = machine?.start() ?? Promise.resolve(undefined);
  machineStarted.catch(fail);
  const planeRuns = machineStarted.then(() => runAll(plane, stopPlane.signal));
  planeRuns.catch(() => undefined);
  const operatorsRun = runAll(operators, stopOperators.signal);

  return {
    machine,
    machineStarted,
    managers: () => managers,
    async working() {
      await machineStarted;
      await Promise.all([...plane, ...operators].map((work) => work.settled()));
    },
    async stop(pods) {
      stopOperators.abort();
      await operatorsRun;
      await operatorClient.close();
      await machineStarted.catch(() => undefined);
      stopPlane.abort();
      await planeRuns.catch(() => undefined);
      await machine?.stop({ pods });
      await planeClient.close();
    },
  };
}

/** `Turns`, or what needs none. */
type Work = Pick<Turns, 'run' | 'settled'>;

/** This process is the only one that has the duty: it begins at once. */
function alone(duty: Pick<Duty, 'begin'>): Work {
  const term = duty.begin();
  return { run: (signal) => term.run(signal), settled: () => term.ready() };
}

function controllersDuty(options: TermOptions, client: Client, more: readonly Controller[]): Duty {
  const { world, log, authority } = options;
  return {
    lease: 'castellan-controllers',
    begin() {
      const { controllers, components } = planeControllers({
        ...{ client, world, log, authority },
        rootCertificate: authority.certificate,
      });
      return termOf(options, client, { controllers: [...controllers, schedulerController(), ...more], components });
    },
  };
}

interface TermOptions extends WorkersOptions {
  /** Holds each manager while it runs. */
  readonly managers: Set<Manager>;
}

type TermParts = Partial<PlaneControllers> & Pick<ManagerOptions, 'webhooks'>;

/** Webhooks are reached on loopback, where the API server listens too, on a port that is another at each start. */
function operatorParts(operator: Operator): TermParts {
  const webhooks = operatorWebhooks(operator, {
    endpoint: { host: '127.0.0.1' },
    port: 0,
    certificates: { secret: { namespace: 'kube-system', name: `castellan-operator-${operator.name}-webhooks` } },
  });
  return { controllers: operator.controllers, ...(webhooks === undefined ? {} : { webhooks }) };
}

function termOf({ world, log, managers }: TermOptions, client: Client, parts: TermParts): Term {
  const { components = [], controllers = [], ...more } = parts;
  const manager = createManager({ wholeCache: true, client, world, log, controllers, ...more });
  return {
    ready: () => manager.ready(),
    async run(signal) {
      managers.add(manager);
      await together([manager, ...components], signal).finally(() => managers.delete(manager));
    },
  };
}

/** Parts that end together: one that ends by itself has failed, and ends the others. */
async function together(
  parts: readonly { run(signal: AbortSignal): Promise<void> }[],
  signal: AbortSignal,
): Promise<void> {
  const failure = new AbortController();
  const until = AbortSignal.any([signal, failure.signal]);
  await Promise.all(parts.map((part) => part.run(until).catch((error: unknown) => failure.abort(error))));
  if (failure.signal.aborted) throw failure.signal.reason;
}

function machineFor(options: WorkersOptions): Machine {
  return createMachine({
    world: options.world,
    log: options.log,
    dataDirectory: options.dataDirectory,
    nodes: options.nodeList.map((node) => ({ ...node, connect: () => options.nodeClient(node.name) })),
    podCidr: options.addresses.podCidr,
    serviceCidr: options.addresses.serviceCidr,
    clusterDomain: 'cluster.local',
    apiServer: options.apiServer,
  });
}
