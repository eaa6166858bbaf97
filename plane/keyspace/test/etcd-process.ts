import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { realWorld, waitFor } from '@castellan/world';

/** For `skip` of a test: why it cannot run, when no etcd is on PATH. */
export const etcdMissing: string | false =
  spawnSync('etcd', ['--version']).status === 0 ? false : 'etcd is not on PATH (Debian: apt-get install etcd-server)';

/** A program that is an etcd, and for `skip` of a test why it cannot run here. */
export interface EtcdProgram {
  readonly name: string;
  readonly path: string;
  readonly missing: string | false;
}

const newerPath = fileURLToPath(new URL('../../../../node_modules/.cache/castellan/etcd-3.5/etcd', import.meta.url));

/** The etcd that is installed, 3.4 or later, and the one that `npm test` fetches (scripts/newer-etcd.mjs). */
export const etcdPrograms: readonly EtcdProgram[] = [
  { name: 'the installed etcd', path: 'etcd', missing: etcdMissing },
  {
    name: 'etcd 3.5',
    path: newerPath,
    missing: existsSync(newerPath) ? false : 'no etcd 3.5 was fetched: node scripts/newer-etcd.mjs',
  },
];

/** A cluster of real etcds on loopback. */
export async function startEtcdCluster(size: number): Promise<readonly EtcdProcess[]> {
  const ports = await freePorts(2 * size);
  const peers = ports.slice(size).map((port, index) => `member-${index}=http://127.0.0.1:${port}`);
  const members = await Promise.all(
    ports.slice(0, size).map(async (clientPort, index) => {
      const directory = await mkdtemp(join(tmpdir(), 'castellan-etcd-'));
      return new EtcdProcess(directory, { clientPort, index, peers });
    }),
  );
  try {
    await Promise.all(members.map((member) => member.start()));
    return members;
  } catch (error) {
    await Promise.all(members.map((member) => member.remove()));
    throw error;
  }
}

interface EtcdOptions {
  readonly clientPort: number | undefined;
  /** Which of `peers` this one is. */
  readonly index: number;
  /** NAME=URL */
  readonly peers: readonly string[];
  readonly program?: string;
  /** With a certificate that etcd makes itself, or with the server's own and one asked of its clients. */
  readonly tls?: 'auto' | ServerTls;
}

/** Paths of PEM files. Clients must show a certificate that `caFile` has signed. */
export interface ServerTls {
  readonly caFile: string;
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** One real etcd on loopback, in a directory of its own, that can be killed and started again with its data. */
export class EtcdProcess {
  readonly endpoint: string;
  readonly #directory: string;
  readonly #program: string;
  readonly #arguments: readonly string[];
  #child: ChildProcess | undefined;
  #output = '';

  constructor(directory: string, { clientPort, index, peers, program = 'etcd', tls }: EtcdOptions) {
    this.#program = program;
    this.endpoint = `127.0.0.1:${clientPort}`;
    this.#directory = directory;
    const clientUrl = `${tls === undefined ? 'http' : 'https'}://${this.endpoint}`;
    const [name = '', peerUrl = ''] = peers[index]?.split('=') ?? [];
    this.#arguments = [
      ...tlsArguments(tls),
      ...['--name', name, '--data-dir', join(directory, 'data'), '--logger', 'zap', '--log-level', 'error'],
      ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', peers.join(',')],
    ];
  }

  /** With TLS, etcd makes itself a certificate: `certificate()`. */
  static async start(options: Pick<EtcdOptions, 'program' | 'tls'> = {}): Promise<EtcdProcess> {
    const directory = await mkdtemp(join(tmpdir(), 'castellan-etcd-'));
    const [clientPort, peerPort] = await freePorts(2);
    const peers = [`one=http://127.0.0.1:${peerPort}`];
    const etcd = new EtcdProcess(directory, { clientPort, index: 0, peers, ...options });
    try {
      await etcd.start();
      return etcd;
    } catch (error) {
      await etcd.remove();
      throw error;
    }
  }

  async start(): Promise<void> {
    const child = spawn(this.#program, this.#arguments, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (this.#output += String(text)));
    await waitFor(realWorld(), () => child.exitCode !== null || canConnect(this.endpoint), {
      what: () => `etcd to listen on ${this.endpoint}: ${this.#output}`,
      deadlineMs: 60_000,
      everyMs: 5,
    });
    if (child.exitCode !== null) throw new Error(`etcd ended at once: ${this.#output}`);
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  /** Connections stay, and nothing answers, until it is resumed. */
  async pause(): Promise<void> {
    const child = this.#child;
    child?.kill('SIGSTOP');
    await waitFor(realWorld(), async () => (await stateOf(child?.pid)) === 'T', {
      what: 'etcd to be stopped by its signal',
      deadlineMs: 30_000,
      everyMs: 2,
    });
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Signed by itself, so that it is its own authority. */
  certificate(): Promise<string> {
    return readFile(join(this.#directory, 'data/fixtures/client/cert.pem'), 'utf8');
  }

  async forgetData(): Promise<void> {
    await rm(join(this.#directory, 'data'), { recursive: true });
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function tlsArguments(tls: EtcdOptions['tls']): readonly string[] {
  if (tls === undefined) return [];
  if (tls === 'auto') return ['--auto-tls'];
  return [
    ...['--cert-file', tls.certificateFile, '--key-file', tls.keyFile],
    ...['--client-cert-auth', '--trusted-ca-file', tls.caFile],
  ];
}

/**
 * Ports that nobody listens on now, below those that the system hands out by itself (ip(7), `ip_local_port_range`): one of
 * those may be another's before etcd listens on it.
 */
async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(20_000, 32_768);
    if (await canListen(port)) ports.add(port);
  }
  return [...ports];
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** One letter; see proc(5). */
async function stateOf(pid: number | undefined): Promise<string | undefined> {
  return /^\d+ \(.*\) (\w)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

function canConnect(endpoint: string): Promise<boolean> {
  const [host = '', port] = endpoint.split(':');
  return new Promise((resolve) => {
    const socket = createConnection({ host, port: Number(port) });
    const done = (isConnected: boolean) => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}
