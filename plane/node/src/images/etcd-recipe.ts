import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../sandbox/command.js';
import { type Image, ImageError, type ImageRecipe, type OfferedProgram } from './image.js';
import type { ImageName } from './image-name.js';
import { formatVersion, nearestVersion, parseVersion, type Version } from './version.js';

interface Installation {
  readonly version: Version;
  readonly server: string;
  readonly client: string | undefined;
  /** `Debian's etcd-server`, or the directory it was unpacked in. */
  readonly origin: string;
}

const imagePaths: ReadonlySet<string> = new Set(['coreos/etcd', 'etcd-development/etcd', 'etcd', 'bitnami/etcd']);

export interface EtcdRecipeOptions {
  /** Has `etcd/<version>/etcd`, and `etcdctl` beside it. */
  readonly programDirectory: string;
  /** Where the machine's own is; etcdctl beside it. /usr/bin/etcd by default. */
  readonly machineServer?: string;
}

/** etcd of the machine and of the program directory, at the places where etcd's official images have it. */
export class EtcdRecipe implements ImageRecipe {
  readonly shortNames = ['etcd'];
  readonly #programDirectory: string;
  readonly #machineServer: string;

  constructor({ programDirectory, machineServer = '/usr/bin/etcd' }: EtcdRecipeOptions) {
    this.#programDirectory = programDirectory;
    this.#machineServer = machineServer;
  }

  matches(image: ImageName): boolean {
    return imagePaths.has(image.path);
  }

  async resolve(image: ImageName): Promise<Image> {
    const installations = await this.#installations();
    const wanted = parseVersion(image.tag);
    const versions = installations.map(({ version }) => version);
    // A tag such as `latest` names no version: the newest of the machine is meant.
    const chosen = wanted === undefined ? newest(versions) : nearestVersion(wanted, versions);
    const installation = installations.find(({ version }) => version === chosen);
    if (installation === undefined) throw new ImageError(nothingFound(image.tag, versions));
    const version = formatVersion(installation.version);
    const isExact = wanted === undefined || formatVersion(wanted) === version;
    const there = versions.map(formatVersion).join(', ');
    const substitution = `wanted etcd ${image.tag.replace(/^v/, '')}; this machine has ${there}; running ${version} (${installation.origin})`;
    return {
      id: `program://${installation.server.slice(1)}@${version}`,
      description: `etcd ${version} (${installation.origin})`,
      ...(isExact ? {} : { substitution }),
      mounts: [
        { source: installation.server, target: '/usr/local/bin/etcd', isReadOnly: true },
        ...(installation.client === undefined
          ? []
          : [{ source: installation.client, target: '/usr/local/bin/etcdctl', isReadOnly: true }]),
      ],
      files: [],
      entrypoint: [],
      arguments: ['/usr/local/bin/etcd'],
      environment: { ETCDCTL_API: '3' },
      workingDirectory: '/',
    };
  }

  async offers(): Promise<readonly OfferedProgram[]> {
    const images = [...imagePaths];
    const installations = await this.#installations();
    if (installations.length === 0) {
      return [{ images, origin: "Debian's etcd-server", next: 'apt-get install etcd-server etcd-client' }];
    }
    return installations.map(({ version, origin }) => ({ images, version: formatVersion(version), origin }));
  }

  /** Looked up at every start: what is installed while the plane runs counts from the next container on. */
  async #installations(): Promise<readonly Installation[]> {
    const root = join(this.#programDirectory, 'etcd');
    const unpacked = existsSync(root)
      ? readdirSync(root).flatMap((name) => {
          const version = parseVersion(name);
          const server = join(root, name, 'etcd');
          if (version === undefined || !existsSync(server)) return [];
          return [{ version, server, client: present(join(root, name, 'etcdctl')), origin: join(root, name) }];
        })
      : [];
    const server = this.#machineServer;
    const version = await versionOf(server);
    if (version === undefined) return unpacked;
    const client = present(join(dirname(server), 'etcdctl'));
    return [...unpacked, { version, server, client, origin: "Debian's etcd-server" }];
  }
}

async function versionOf(server: string): Promise<Version | undefined> {
  if (!existsSync(server)) return undefined;
  const { stdout } = await runCommand(server, ['--version'], { deadlineMs: 5_000 });
  return parseVersion(/^etcd Version: (\S+)/m.exec(stdout)?.[1] ?? '');
}

function newest(versions: readonly Version[]): Version | undefined {
  return [...versions].sort((a, b) => b.major - a.major || b.minor - a.minor || b.patch - a.patch)[0];
}

function nothingFound(tag: string, versions: readonly Version[]): string {
  if (versions.length === 0) {
    return `no etcd on this machine for etcd ${tag}; next: apt-get install etcd-server etcd-client`;
  }
  return `etcd ${tag} wanted, and this machine has only ${versions.map(formatVersion).join(', ')}, of another major version; next: ask for one of these`;
}

function present(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}
