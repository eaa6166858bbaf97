import { count, type JsonRecord, records, text } from '../json.js';
import { containersOf } from './containers.js';

interface Port {
  readonly path: string;
  readonly onHost: number;
  readonly hostIp: string;
}

/** Ports of a pod that get in each other's way, or may. */
export function portWarnings(spec: JsonRecord, path: string): readonly string[] {
  const known = new Map<string, Port[]>();
  return containersOf(spec, path).flatMap(({ container, path: place }) =>
    records(container.ports).flatMap((sent, index) => {
      const port = {
        path: `${place}.ports[${index}]`,
        onHost: count(sent.hostPort) ?? 0,
        hostIp: text(sent.hostIP) ?? '',
      };
      const key = `${count(sent.containerPort) ?? 0}/${text(sent.protocol) ?? ''}`;
      const others = known.get(key) ?? [];
      known.set(key, [...others, port]);
      return [
        ...(port.hostIp !== '' && port.onHost === 0
          ? [`${port.path}: hostIP set without hostPort: ${goText(sent)}`]
          : []),
        ...others.flatMap((other) => {
          const words = relation(port, other);
          return words === undefined ? [] : [`${port.path}: ${words} port definition with ${other.path}`];
        }),
      ];
    }),
  );
}

function relation(port: Port, other: Port): string | undefined {
  if (port.hostIp === other.hostIp && port.onHost === other.onHost) return 'duplicate';
  if (port.onHost === 0 || other.onHost === 0) return 'overlapping';
  const isOneOpen = (port.hostIp === '') !== (other.hostIp === '');
  return port.onHost === other.onHost && isOneOpen ? 'dangerously ambiguous' : undefined;
}

/** As Go prints the structure. */
function goText({ name, hostPort, containerPort, protocol, hostIP }: JsonRecord): string {
  const [named, onHost, own] = [text(name) ?? '', count(hostPort) ?? 0, count(containerPort) ?? 0];
  return `{Name:${named} HostPort:${onHost} ContainerPort:${own} Protocol:${text(protocol) ?? ''} HostIP:${text(hostIP) ?? ''}}`;
}
