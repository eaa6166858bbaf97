import type { Container } from '@castellan/machinery';
import { ContainerConfigError } from './environment.js';

type Environment = Readonly<Record<string, string>>;

/** A container's mounts as they are at this start: `subPathExpr` has become a `subPath`. Throws where one cannot be had. */
export function settledMounts(container: Container, environment: Environment): Container {
  const volumeMounts = (container.volumeMounts ?? []).map((mount) => {
    if (mount.mountPropagation === 'Bidirectional') {
      throw new ContainerConfigError(
        `mountPropagation Bidirectional of "${mount.mountPath}" is not offered by this node: what a container mounts stays its own; next: use None or HostToContainer`,
      );
    }
    const { subPathExpr, ...rest } = mount;
    if (subPathExpr === undefined || subPathExpr === '') return mount;
    return { ...rest, subPath: expandWhole(subPathExpr, environment) };
  });
  return { ...container, volumeMounts };
}

/** As in an argument, but a variable that is not there is an error: a path with a hole in it leads elsewhere. */
function expandWhole(text: string, environment: Environment): string {
  return text.replace(/\$\$|\$\(([^)]*)\)/g, (match, name: string | undefined) => {
    if (match === '$$') return '$';
    const value = environment[name ?? ''];
    if (value === undefined) throw new ContainerConfigError(`missing value for "${name}"`);
    return value;
  });
}
