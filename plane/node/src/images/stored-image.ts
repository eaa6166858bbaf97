import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { ImageStore, StoredImage } from '../image-store/image-store.js';
import { resolveInside } from '../image-store/inside-root.js';
import { helperMounts } from '../sandbox/image-programs.js';
import { isMissing } from '../sandbox/record-file.js';
import { type Image, ImageError, type ImageUser } from './image.js';
import type { ImageName } from './image-name.js';

interface User extends ImageUser {
  readonly home: string;
}

/** An image that was loaded or pulled, as what a container needs of it; `undefined` when there is none of that name. */
export async function storedImage(store: ImageStore, name: ImageName): Promise<Image | undefined> {
  const stored = store.find(name);
  if (stored === undefined) return undefined;
  const { config, root, origin } = stored;
  const user = userOf(stored);
  const stopSignal = signalOf(config.stopSignal);
  return {
    id: stored.id,
    description: origin === 'registry' ? 'pulled from its registry' : 'loaded from an archive',
    root,
    ...(user.user === 0 && user.group === 0 && user.groups.length === 0 ? {} : { user }),
    ...(stopSignal === undefined ? {} : { stopSignal }),
    ...(origin === 'registry' && { isFromRegistry: true }),
    mounts: await helperMounts(),
    files: [],
    entrypoint: config.entrypoint,
    arguments: config.command,
    environment: { HOME: user.home, ...config.environment },
    workingDirectory: config.workingDirectory,
  };
}

/** By name, with or without `SIG`, or by number; `undefined` for what is none. */
function signalOf(text: string): NodeJS.Signals | undefined {
  const names = Object.keys(constants.signals).filter((name): name is NodeJS.Signals => name in constants.signals);
  return names.find((name) => name === text || name === `SIG${text}` || String(constants.signals[name]) === text);
}

/** As Docker reads `USER`: a name or number, and after a colon a group's. Names are those of the image. */
function userOf({ config, root, name }: StoredImage): User {
  const [wanted = '', wantedGroup = ''] = config.user.split(':');
  const users = lines(root, '/etc/passwd');
  const groups = lines(root, '/etc/group');
  const isNumber = /^\d+$/.test(wanted);
  const entry = users.find(([login, , id]) => (isNumber || wanted === '' ? id === (wanted || '0') : login === wanted));
  if (entry === undefined && wanted !== '' && !isNumber) {
    throw new ImageError(
      `image "${name}" runs as user ${wanted}, whom its /etc/passwd does not have; next: set securityContext.runAsUser`,
    );
  }
  const [login = '', , id = wanted || '0', primary = '0', , home = '/'] = entry ?? [];
  return {
    user: Number(id),
    group: wantedGroup === '' ? Number(primary) : groupOf(wantedGroup, groups, name),
    groups:
      wantedGroup === ''
        ? groups.filter((fields) => membersOf(fields).includes(login)).map(([, , gid]) => Number(gid))
        : [],
    home,
  };
}

function groupOf(wanted: string, groups: readonly (readonly string[])[], image: string): number {
  if (/^\d+$/.test(wanted)) return Number(wanted);
  const [, , id] = groups.find(([group]) => group === wanted) ?? [];
  if (id !== undefined) return Number(id);
  throw new ImageError(
    `image "${image}" runs as group ${wanted}, which its /etc/group does not have; next: set securityContext.runAsGroup`,
  );
}

function membersOf([, , , members = '']: readonly string[]): readonly string[] {
  return members.split(',').filter((member) => member !== '');
}

/** The fields of each line of a file of the image; none when it has no such file. */
function lines(root: string, path: string): readonly (readonly string[])[] {
  try {
    return readFileSync(resolveInside(root, path, { isReadOnly: true }), 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
