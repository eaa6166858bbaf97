import { mkdir, writeFile } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import {
  type ApiServer,
  type AuditPolicy,
  AuditPolicyError,
  type Authority,
  type Certificates,
  createApiServer,
  type Encryption,
  ensureCertificates,
  ensureNodeCertificate,
  ensureServiceAccountKey,
  kubeconfigOf,
  type NodeStreamsOf,
  noEncryption,
  readAuditPolicy,
  readTokenFile,
  type ServerAddress,
  type StaticTokens,
  TokenFileError,
  type UsageSource,
} from '@castellan/apiserver';
import { type Client, connect } from '@castellan/client';
import type { Keyspace } from '@castellan/keyspace';
import type { Machine, NodeState } from '@castellan/node';
import { installKinds, type Log, type Manager } from '@castellan/runtime';
import type { World } from '@castellan/world';
import { type AddressPlan, ensureAddressPlan } from './address-plan.js';
import type { Phase, PlaneOptions } from './plane-options.js';
import { explainDecryption, rememberEncryption } from './remembered-encryption.js';
import { rememberNodes, rememberStopped } from './remembered-nodes.js';
import { shareState } from './shared-state.js';
import { openStorage, startCompaction } from './storage.js';
import { startWorkers, type Workers } from './workers.js';

export interface Plane {
  readonly url: string;
  readonly port: number;
  readonly kubeconfigPath: string;
  /** An administrator's client. */
  readonly client: Client;
  readonly phases: readonly Phase[];
  /** Those of controllers, scheduler, node agent and operators that run now. */
  managers(): Iterable<Manager>;
  /** The nodes that this plane runs; undefined where it runs none. */
  readonly nodes: PlaneNodes | undefined;
  /** Resolves when controllers, scheduler, node agent and operators have read what there is and work. */
  working(): Promise<void>;
  /** Ends all parts in reverse order. `keep` leaves pods running for the next start to adopt; `stop` ends them. */
  stop(options: { readonly pods: 'keep' | 'stop' }): Promise<void>;
}

/** The nodes of this machine, to be switched off and on. What is done is remembered over restarts of the plane. */
export interface PlaneNodes {
  list(): readonly NodeState[];
  /** As `Machine.startNode`. */
  start(name: string): Promise<void>;
  /** As `Machine.stopNode`. */
  stop(name: string): Promise<void>;
}

const host = '127.0.0.1';

/**
 * A whole control plane in this process: keyspace, API server, controllers, scheduler, node agent and operators, which
 * meet only over the API. Resolves when the API server is ready and serves the operators' kinds (those that an operator converts once it works);
 * the rest starts then.
 * When a part does not start, what was started before it is stopped, and the error says what and what to do.
 */
export async function startPlane(options: PlaneOptions): Promise<Plane> {
  const { dataDirectory, world, log } = options;
  const phases: Phase[] = [];
  const started: Stop[] = [];
  const phase = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const sinceMs = world.clock.monotonicNow();
    const result = await work();
    const ended = { name, ms: world.clock.monotonicNow() - sinceMs };
    phases.push(ended);
    options.onPhase?.(ended);
    return result;
  };
  try {
    await mkdir(dataDirectory, { recursive: true });
    const encryption = await rememberEncryption(dataDirectory, options.encryptionConfiguration);
    const staticTokens = await readStaticTokens(options.tokenAuthFile);
    const auditPolicy = await readPolicy(options.auditPolicyFile);
    const { keyspace, isShared } = await phase('keyspace', () => openStorage(options));
    started.push(() => keyspace.close());
    started.push(startCompaction(keyspace, options));
    const { plan: own, release } = await ensureAddressPlan(dataDirectory);
    started.push(release);
    const pkiDirectory = join(dataDirectory, 'pki');
    const values = (encryption ?? noEncryption).transformerOf({ group: '', plural: 'secrets' });
    const shared = isShared
      ? await shareState({ keyspace, world, values, pkiDirectory, ...own }).catch(explainDecryption)
      : undefined;
    const addresses = { ...own, serviceCidr: shared?.serviceCidr ?? own.serviceCidr };
    const certificates = await phase('certificates', () =>
      planeCertificates(pkiDirectory, { addresses, world, authority: shared?.authority }),
    );
    const serviceAccountKey = shared?.serviceAccountKey ?? (await ensureServiceAccountKey(pkiDirectory));
    let workers: Workers | undefined;
    const server = await phase('API server', () =>
      planeApiServer(options, {
        ...{ keyspace, encryption, staticTokens, auditPolicy, addresses, serviceAccountKey },
        nodeStreams: (name) => machineOf(workers).node(name),
        ...(options.node ? { usage: () => machineOf(workers).usage() } : {}),
      }).catch(explainDecryption),
    );
    started.push(() => server.close());
    const tls = {
      key: certificates.serverKey,
      certificate: certificates.serverCertificate,
      clientCa: certificates.caCertificate,
    };
    const { url, port } = await server.listen({ host, port: options.port, tls });
    const { caCertificate } = certificates;
    const clientOf = (clientCertificate: string, clientKey: string, userAgent: string): Client =>
      connect({ server: url, caCertificate, clientCertificate, clientKey }, { world, userAgent });
    const clientFor = (userAgent: string) => clientOf(certificates.adminCertificate, certificates.adminKey, userAgent);
    const client = clientFor('castellan');
    started.push(() => client.close());
    await phase('kinds', () =>
      installKinds(
        client,
        options.operators.flatMap((operator) => operator.customResourceDefinitions),
        world,
        options.operators.flatMap(({ convertedKinds = [] }) => convertedKinds),
      ),
    );
    const kubeconfigPath = join(dataDirectory, 'kubeconfig');
    await writeFile(kubeconfigPath, kubeconfigOf({ url, ...certificates }), { mode: 0o600 });
    const authority = { certificate: certificates.caCertificate, key: certificates.caKey };
    const nodes = options.node ? await rememberNodes(dataDirectory, options.nodes ?? {}) : [];
    const running = startWorkers({
      ...options,
      nodeList: nodes,
      isShared,
      addresses,
      apiServer: { host, port },
      authority,
      clientFor,
      async nodeClient(name) {
        const own = await ensureNodeCertificate(name, { directory: pkiDirectory, authority, world });
        return clientOf(own.certificate, own.key, 'castellan-node');
      },
    });
    workers = running;
    running.machineStarted.then(
      (machine) => {
        const address = machine === undefined ? machineAddress(port) : machine.apiServer;
        if (address !== undefined) server.advertise(address);
      },
      // Told where the workers are waited for; without a network there is nothing to advertise.
      () => undefined,
    );
    return {
      url,
      port,
      kubeconfigPath,
      client,
      phases,
      managers: () => running.managers(),
      nodes: running.machine === undefined ? undefined : nodesOf(running.machine, dataDirectory),
      working: () => phase('controllers', () => running.working()),
      async stop({ pods }) {
        await running.stop(pods);
        await stopAll(started, log);
      },
    };
  } catch (error) {
    await stopAll(started, log);
    throw error;
  }
}

function nodesOf(machine: Machine, dataDirectory: string): PlaneNodes {
  return {
    list: () => machine.nodes(),
    async start(name) {
      await machine.startNode(name);
      await rememberStopped(dataDirectory, name, false);
    },
    async stop(name) {
      await machine.stopNode(name);
      await rememberStopped(dataDirectory, name, true);
    },
  };
}

type Stop = () => Promise<void>;

/** The last one started ends first. One that fails to end does not keep the others from ending. */
async function stopAll(started: Stop[], log: Log): Promise<void> {
  for (const stop of started.splice(0).reverse()) {
    await stop().catch((error: unknown) =>
      log.error('a part of the plane did not stop cleanly', { error: String(error) }),
    );
  }
}

async function planeCertificates(
  directory: string,
  options: {
    readonly addresses: AddressPlan;
    readonly world: World;
    readonly authority: Authority | undefined;
  },
): Promise<Certificates> {
  const { addresses, world, authority } = options;
  return await ensureCertificates({
    directory,
    names: [
      'localhost',
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.cluster.local',
    ],
    addresses: [host, firstAddressOf(addresses.serviceCidr), firstAddressOf(addresses.podCidr)],
    world,
    ...(authority === undefined ? {} : { authority }),
  });
}

async function planeApiServer(
  { dataDirectory, world, log, auditLog }: PlaneOptions,
  parts: {
    readonly keyspace: Keyspace;
    readonly encryption: Encryption | undefined;
    readonly staticTokens: StaticTokens | undefined;
    readonly auditPolicy: AuditPolicy | undefined;
    readonly addresses: AddressPlan;
    readonly serviceAccountKey: string;
    readonly nodeStreams: NodeStreamsOf;
    readonly usage?: UsageSource;
  },
): Promise<ApiServer> {
  const { keyspace, encryption, staticTokens, auditPolicy, addresses, serviceAccountKey, nodeStreams, usage } = parts;
  return await createApiServer({
    serviceAccountKey,
    keyspace,
    world,
    serviceCidr: addresses.serviceCidr,
    identity: { name: `${hostname()}:${dataDirectory}`, hostName: hostname() },
    nodeStreams,
    ...(usage === undefined ? {} : { usage }),
    ...(encryption === undefined ? {} : { encryption }),
    ...(staticTokens === undefined ? {} : { staticTokens }),
    ...(auditLog === undefined ? {} : { auditLog }),
    ...(auditPolicy === undefined ? {} : { auditPolicy }),
    log: (line) => log.error(line),
  });
}

async function readStaticTokens(path: string | undefined): Promise<StaticTokens | undefined> {
  if (path === undefined) return undefined;
  return await readTokenFile(path).catch((error: unknown) => {
    if (!(error instanceof TokenFileError)) throw error;
    const next = 'correct it, or start without `--token-auth-file`';
    throw new Error(`${path} is not a usable token file: ${error.message}; next: ${next}`, { cause: error });
  });
}

async function readPolicy(path: string | undefined): Promise<AuditPolicy | undefined> {
  if (path === undefined) return undefined;
  return await readAuditPolicy(path).catch((error: unknown) => {
    if (!(error instanceof AuditPolicyError)) throw error;
    const next = 'correct it, or start without `--audit-policy-file`';
    throw new Error(`${path} is not a usable audit policy: ${error.message}; next: ${next}`, { cause: error });
  });
}

/** Of `10.1.16.0/20`: `10.1.16.1`. There the service `kubernetes` answers; the bridge has the first one of the pods'. */
function firstAddressOf(cidr: string): string {
  return cidr.replace(/\.\d+\/\d+$/, '.1');
}

/**
 * The machine's first IPv4 address that is not of loopback: what a kube-apiserver that listens on loopback advertises. Without
 * a pod network nothing forwards it to the server; undefined on a machine that has none.
 */
function machineAddress(port: number): ServerAddress | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const first = addresses.find(
    ({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'),
  );
  return first && { address: first.address, port };
}

/** The API server starts before the machine, whose pods it joins clients to. */
function machineOf(workers: Workers | undefined): Machine {
  if (workers?.machine !== undefined) return workers.machine;
  throw new Error('this plane runs no node agent (--no-node), so pods cannot be reached');
}
