import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@castellan/world';
import { run, world } from './plane-process.js';

/** For `skip` of a test: why it cannot run, when the machine has no etcd of its own. */
export const etcdMissing: string | false =
  spawnSync('etcd', ['--version']).status === 0 ? false : 'etcd is not on PATH (Debian: apt-get install etcd-server)';

/** Paths of PEM files. The etcd asks its clients for a certificate that `caFile` has signed. */
export interface EtcdTls {
  readonly caFile: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
}

/** An etcd that is not of a plane: where planes keep their objects. On loopback, in a directory of its own. */
export class RealEtcd {
  /** HOST:PORT */
  readonly endpoint: string;
  readonly #directory: string;
  readonly #peer: string;
  readonly #tls: EtcdTls | undefined;
  #child: ChildProcess | undefined;

  private constructor(directory: string, clientPort: number, peerPort: number, tls: EtcdTls | undefined) {
    this.#tls = tls;
    this.#directory = directory;
    this.endpoint = `127.0.0.1:${clientPort}`;
    this.#peer = `http://127.0.0.1:${peerPort}`;
  }

  static async start(tls?: EtcdTls): Promise<RealEtcd> {
    const directory = await mkdtemp(join(tmpdir(), 'castellan-storage-'));
    const etcd = new RealEtcd(directory, await freePort(), await freePort(), tls);
    try {
      await etcd.start();
      return etcd;
    } catch (error) {
      await etcd.remove();
      throw error;
    }
  }

  async start(): Promise<void> {
    const tls = this.#tls;
    const client = `${tls === undefined ? 'http' : 'https'}://${this.endpoint}`;
    const child = spawn(
      'etcd',
      [
        ...[
          '--name',
          'storage',
          '--data-dir',
          join(this.#directory, 'data'),
          '--logger',
          'zap',
          '--log-level',
          'error',
        ],
        ...(tls === undefined
          ? []
          : [
              ...['--cert-file', tls.serverCertificate, '--key-file', tls.serverKey],
              ...['--client-cert-auth', '--trusted-ca-file', tls.caFile],
            ]),
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', this.#peer, '--initial-advertise-peer-urls', this.#peer],
        ...['--initial-cluster', `storage=${this.#peer}`],
      ],
      { stdio: 'ignore' },
    );
    this.#child = child;
    await waitFor(
      world,
      async () => child.exitCode !== null || (await this.etcdctl(['endpoint', 'health'])).code === 0,
      {
        what: `etcd to serve ${this.endpoint}`,
        deadlineMs: 60_000,
      },
    );
    if (child.exitCode !== null) throw new Error(`etcd ended with status ${child.exitCode} at its start`);
  }

  etcdctl(args: readonly string[]): ReturnType<typeof run> {
    const tls = this.#tls;
    const files =
      tls === undefined ? [] : ['--cacert', tls.caFile, '--cert', tls.clientCertificate, '--key', tls.clientKey];
    return run('etcdctl', ['--endpoints', this.endpoint, ...files, ...args], { env: { ETCDCTL_API: '3' } });
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/**
 * One that nobody listens on now, below those that the system hands out by itself (ip(7), `ip_local_port_range`): one of
 * those may be another's before etcd listens on it.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    if (await canListen(port)) return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
