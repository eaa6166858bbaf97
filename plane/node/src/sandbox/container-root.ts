import { join } from 'node:path';
import { helperDirectory } from './image-programs.js';
import { makeImageRoot } from './image-root.js';
import { type RootFileSystem, writeLayer } from './root-file-system.js';

export interface ContainerRoot {
  readonly root: RootFileSystem;
  /** Comes before the command that makes the container. */
  readonly beforehand: readonly string[];
}

/** Makes what one start of a container has for `/`: the machine's programs under a layer of its own, or an image under one. */
export async function makeContainerRoot(
  directory: string,
  root: Omit<RootFileSystem, 'layer'>,
  workingDirectory: string,
): Promise<ContainerRoot> {
  if (root.image === undefined) {
    const own = { ...root, layer: join(directory, 'layer') };
    writeLayer(own);
    return { root: own, beforehand: [] };
  }
  const content = { files: root.files, directories: [workingDirectory, helperDirectory] };
  const { path, entry } = await makeImageRoot(directory, root.image, content);
  return { root: { ...root, layer: path }, beforehand: entry };
}
