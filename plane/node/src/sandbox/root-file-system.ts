import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** A directory or file of the machine, seen in the container at `target`. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly isReadOnly: boolean;
}

/** A file that is written into the container's own layer. */
export interface LayerFile {
  readonly path: string;
  readonly content: string;
  /** 0o644 by default. */
  readonly mode?: number;
}

/** A symbolic link in the container's own layer. */
export interface LayerLink {
  readonly path: string;
  readonly target: string;
}

export interface RootFileSystem {
  /** The container's own writable directory; mount points are made in it, for the machine's /usr is read-only. */
  readonly layer: string;
  /** The files of an unpacked image, in place of the machine's programs; `layer` is over them. */
  readonly image?: string;
  readonly files: readonly LayerFile[];
  readonly links?: readonly LayerLink[];
  /** Files and directories of the machine of which the container has copies at the same place, to change as it likes. */
  readonly copies?: readonly string[];
  readonly mounts: readonly Mount[];
  readonly isReadOnly: boolean;
}

const layerDirectories = ['etc', 'home', 'mnt', 'opt', 'root', 'run', 'srv', 'usr/local/bin', 'var/lib', 'var/log'];
const openDirectories = ['tmp', 'var/tmp'];

/** Programs of the machine, as they are there: on a merged-/usr system all but the first are links. */
const programDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** What programs need of the machine's /etc. Everything else of it stays outside. */
const sharedConfiguration = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/java-17-openjdk',
  '/etc/java-21-openjdk',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/protocols',
  '/etc/services',
  '/etc/ssl',
  '/etc/timezone',
];

const standardFiles: readonly LayerFile[] = [
  { path: '/etc/group', content: 'root:x:0:\nnogroup:x:65534:\n' },
  { path: '/etc/nsswitch.conf', content: 'passwd: files\ngroup: files\nhosts: files dns\n' },
  {
    path: '/etc/passwd',
    content: 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  },
];

/** Fills the layer. What the caller gives replaces our standard files of the same path. */
export function writeLayer(root: RootFileSystem): void {
  for (const directory of layerDirectories) mkdirSync(join(root.layer, directory), { recursive: true });
  for (const directory of openDirectories) {
    mkdirSync(join(root.layer, directory), { recursive: true });
    chmodSync(join(root.layer, directory), 0o1777);
  }
  for (const path of root.copies ?? []) {
    if (existsSync(path)) cpSync(path, join(root.layer, path), { recursive: true, dereference: true });
  }
  for (const { path, target } of root.links ?? []) {
    mkdirSync(dirname(join(root.layer, path)), { recursive: true });
    symlinkSync(target, join(root.layer, path));
  }
  for (const file of [...standardFiles, ...root.files]) {
    const path = join(root.layer, file.path);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.content, { mode: file.mode ?? 0o644 });
  }
}

/** Gives a directory to a user, as `fsGroup` and `runAsUser` ask for. */
export function giveDirectory(path: string, owner: { readonly user: number; readonly group: number }): void {
  chownSync(path, owner.user, owner.group);
  chmodSync(path, 0o2775);
}

/** bubblewrap's arguments, in the order in which it carries them out: outer mounts before those within them. */
export function mountArguments(root: RootFileSystem): readonly string[] {
  const inner = [...root.mounts].sort((a, b) => depth(a.target) - depth(b.target));
  return [
    ...['--bind', root.layer, '/'],
    ...(root.image === undefined ? machineArguments(root) : []),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...inner.flatMap(({ source, target, isReadOnly }) => [isReadOnly ? '--ro-bind' : '--bind', source, target]),
    ...(root.isReadOnly ? ['--remount-ro', '/'] : []),
  ];
}

function machineArguments({ layer, copies = [] }: RootFileSystem): readonly string[] {
  return [
    ...programDirectories.flatMap(programArguments),
    ...(existsSync('/usr/local') ? ['--bind', join(layer, 'usr/local'), '/usr/local'] : []),
    ...copies.filter(isProgramPath).flatMap((path) => ['--bind-try', join(layer, path), path]),
    ...sharedConfiguration.flatMap((path) => ['--ro-bind-try', path, path]),
  ];
}

/** Where the machine's own programs would hide what the layer has. */
function isProgramPath(path: string): boolean {
  return programDirectories.some((directory) => path.startsWith(`${directory}/`));
}

function programArguments(path: string): readonly string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function depth(path: string): number {
  return path.split('/').filter(Boolean).length;
}
