import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** A node of this machine, as it is written down. Its place in the list tells which addresses its pods have. */
export interface RememberedNode {
  readonly name: string;
  readonly zone?: string;
  /** Off until it is started, over restarts of the plane too. */
  readonly isStopped: boolean;
}

/** What a start asks for; what is absent stays as it was. */
export interface NodesWish {
  /** So many run; those beyond are stopped, and not forgotten. 1 at the first start. */
  readonly count?: number;
  /** The first node is in the first zone, and so on, round and round. */
  readonly zones?: readonly string[];
}

/**
 * The nodes of the machine, as they were written down at earlier starts and as this one wants them. The first has the
 * machine's host name, the others NAME-2, NAME-3, …; a name stays when the machine's changes, for pods are bound to it.
 */
export async function rememberNodes(dataDirectory: string, wish: NodesWish): Promise<readonly RememberedNode[]> {
  const known = await readNodes(dataDirectory);
  const { zones } = wish;
  const count = wish.count ?? (known.length === 0 ? 1 : undefined);
  const first = known[0]?.name ?? hostname().toLowerCase();
  const length = Math.max(known.length, count ?? 0);
  const nodes = Array.from({ length }, (_, place): RememberedNode => {
    const before = known[place];
    const zone = zones === undefined ? before?.zone : zones[place % zones.length];
    return {
      name: before?.name ?? (place === 0 ? first : `${first}-${place + 1}`),
      ...(zone === undefined ? {} : { zone }),
      isStopped: count === undefined ? (before?.isStopped ?? false) : place >= count,
    };
  });
  await writeNodes(dataDirectory, nodes);
  return nodes;
}

/** Writes down that a node is stopped, or is to run. */
export async function rememberStopped(dataDirectory: string, name: string, isStopped: boolean): Promise<void> {
  const nodes = await readNodes(dataDirectory);
  await writeNodes(
    dataDirectory,
    nodes.map((node) => (node.name === name ? { ...node, isStopped } : node)),
  );
}

async function writeNodes(dataDirectory: string, nodes: readonly RememberedNode[]): Promise<void> {
  const path = pathIn(dataDirectory);
  await mkdir(dataDirectory, { recursive: true });
  await writeFile(`${path}.new`, `${JSON.stringify(nodes, null, 2)}\n`);
  await rename(`${path}.new`, path);
}

async function readNodes(dataDirectory: string): Promise<readonly RememberedNode[]> {
  const path = pathIn(dataDirectory);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return [];
  const value: unknown = JSON.parse(text);
  const nodes = Array.isArray(value) ? value.map(parseNode) : [undefined];
  return nodes.map((node) => {
    if (node !== undefined) return node;
    throw new Error(`${path} is not a list of nodes; next: restore it, or remove it to name the nodes anew`);
  });
}

function parseNode(value: unknown): RememberedNode | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value) || typeof value.name !== 'string') {
    return undefined;
  }
  return {
    name: value.name,
    ...('zone' in value && typeof value.zone === 'string' ? { zone: value.zone } : {}),
    isStopped: 'isStopped' in value && value.isStopped === true,
  };
}

function pathIn(dataDirectory: string): string {
  return join(dataDirectory, 'nodes.json');
}
