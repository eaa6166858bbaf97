import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why tests with real etcd cannot run on this machine, or `false`. */
export const noEtcd: string | false =
  spawnSync('etcd', ['--version']).status === 0 ? false : 'etcd is not installed (Debian: etcd-server)';

/** A loopback address of its own for each member, so that all can use etcd's usual ports. */
export function loopbackAddress(): string {
  return `127.${randomInt(64, 127)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
}

/** One etcd, with its data in a directory that outlives the process until `remove`. */
export class EtcdProcess {
  readonly directory: string;
  readonly arguments: readonly string[];
  #process: ChildProcess | undefined;
  #log = '';

  private constructor(directory: string, args: readonly string[]) {
    this.directory = directory;
    this.arguments = args;
  }

  static async create(args: (dataDirectory: string) => readonly string[]): Promise<EtcdProcess> {
    const directory = await mkdtemp(join(tmpdir(), 'castellan-etcd-'));
    return new EtcdProcess(directory, args(join(directory, 'data')));
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /** The last lines that etcd wrote, for failure messages. */
  get log(): string {
    return this.#log.slice(-2000);
  }

  /** `$(NAME)` in the arguments is replaced by `environment`, as the kubelet does. */
  start(environment: Readonly<Record<string, string>> = {}, onExit: (code: number | null) => void = () => {}): void {
    const args = this.arguments.map((text) =>
      text.replaceAll(/\$\((\w+)\)/g, (_, name: string) => environment[name] ?? ''),
    );
    const child = spawn('etcd', args, { cwd: this.directory, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#log = (this.#log + chunk.toString()).slice(-4000);
      });
    }
    child.on('exit', (code) => {
      if (this.#process === child) this.#process = undefined;
      onExit(code);
    });
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.kill(signal);
    });
  }

  async wipe(): Promise<void> {
    await rm(join(this.directory, 'data'), { recursive: true, force: true });
  }

  /** Whether its write-ahead log was begun. */
  hasLog(): boolean {
    return existsSync(this.#logFile);
  }

  /** Leaves of the write-ahead log what etcd writes when it makes the file: its members and what they agree on come later. */
  async cutLogBeforeFirstEntry(): Promise<void> {
    const file = await open(this.#logFile, 'r+');
    try {
      // Of the 64 MB that are set aside only the first few hundred bytes are written by now.
      const { buffer } = await file.read(Buffer.alloc(65_536), 0, 65_536, 0);
      await file.write(buffer.fill(0, firstEntryIn(buffer)), 0, buffer.length, 0);
    } finally {
      await file.close();
    }
  }

  get #logFile(): string {
    return join(this.directory, 'data/member/wal/0000000000000000-0000000000000000.wal');
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/**
 * Where the first entry or state begins in a write-ahead log, else where the log ends. A frame is eight bytes of length,
 * little-endian, with the count of padding bytes in the highest, and a record that begins with its type (etcd's wal/doc.go).
 */
function firstEntryIn(log: Buffer): number {
  const [entry, state] = [2, 3];
  let at = 0;
  while (at + 8 < log.length) {
    const field = log.readBigUInt64LE(at);
    const type = log[at + 9];
    if (field === 0n || type === entry || type === state) return at;
    const padding = field >> 63n === 1n ? Number((field >> 56n) & 7n) : 0;
    at += 8 + Number(field & 0x00ff_ffff_ffff_ffffn) + padding;
  }
  return at;
}

export function isHealthy(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(`http://${address}:2379/health`, { agent: false, timeout: 1000 }, (reply) => {
      let body = '';
      reply.on('data', (chunk) => {
        body += chunk;
      });
      reply.on('end', () => resolve(body.includes('true')));
    });
    request.on('error', () => resolve(false));
    request.on('timeout', () => request.destroy());
  });
}
