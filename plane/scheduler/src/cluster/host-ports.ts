import type { Pod } from '@castellan/machinery';

export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

const anyAddress = '0.0.0.0';

/** The ports of the node that a pod's containers take; restartable init containers are such. With the host's network, all of theirs. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...sidecars, ...(spec?.containers ?? [])]
    .flatMap(({ ports }) => ports ?? [])
    .flatMap(({ hostPort, containerPort, hostIP, protocol }) => {
      const port = hostPort ?? (spec?.hostNetwork === true ? containerPort : 0);
      return port === 0 ? [] : [{ ip: hostIP || anyAddress, port, protocol: protocol ?? 'TCP' }];
    });
}

export function isSamePort(a: HostPort, b: HostPort): boolean {
  const isSameAddress = a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress;
  return isSameAddress && a.port === b.port && a.protocol === b.protocol;
}
