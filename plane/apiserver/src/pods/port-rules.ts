import { type FieldError, fieldError } from '@castellan/machinery';
import { count, type JsonRecord, records, text } from '../json.js';
import { portNameProblems } from '../strategies/port-names.js';
import { oneOf, portNumberErrors } from './scalar-rules.js';

/** In the order in which refusals list them. */
const protocols = ['SCTP', 'TCP', 'UDP'];

/** The rules of the ports of one container. */
export function portErrors(container: JsonRecord, path: string): readonly FieldError[] {
  const names = new Set<string>();
  return records(container.ports).flatMap(({ name, containerPort, hostPort, protocol }, index) => {
    const own = `${path}.ports[${index}]`;
    const problems = [
      ...nameErrors(text(name) ?? '', names, `${own}.name`),
      ...((count(containerPort) ?? 0) === 0
        ? [fieldError.required(`${own}.containerPort`)]
        : portNumberErrors(containerPort, `${own}.containerPort`)),
      ...((count(hostPort) ?? 0) === 0 ? [] : portNumberErrors(hostPort, `${own}.hostPort`)),
      ...oneOf(protocol, protocols, `${own}.protocol`),
    ];
    names.add(text(name) ?? '');
    return problems;
  });
}

function nameErrors(name: string, taken: ReadonlySet<string>, path: string): readonly FieldError[] {
  if (name === '') return [];
  const problems = portNameProblems(name);
  if (problems.length > 0) return problems.map((problem) => fieldError.invalid(path, name, problem));
  return taken.has(name) ? [fieldError.duplicate(path, name)] : [];
}

/** Ports of the node that are asked for twice; `paths` are those of the containers. */
export function hostPortConflicts(
  containers: readonly { readonly container: JsonRecord; readonly path: string }[],
): readonly FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap(({ container, path }) =>
    records(container.ports).flatMap(({ hostPort, hostIP, protocol }, index) => {
      if ((count(hostPort) ?? 0) === 0) return [];
      const port = `${text(protocol) ?? ''}/${text(hostIP) ?? ''}/${count(hostPort) ?? 0}`;
      if (taken.has(port)) return [fieldError.duplicate(`${path}.ports[${index}].hostPort`, port)];
      taken.add(port);
      return [];
    }),
  );
}

/** Ports of a pod that has its node's network are the node's; a template may leave them to the pod that is made of it. */
export function hostNetworkErrors(spec: JsonRecord, path: string, isPod: boolean): readonly FieldError[] {
  if (spec.hostNetwork !== true) return [];
  return records(spec.containers).flatMap(({ ports }, position) =>
    records(ports).flatMap((port, index) => {
      const onHost = count(port.hostPort) ?? 0;
      if (onHost === (count(port.containerPort) ?? 0) || (onHost === 0 && !isPod)) return [];
      const own = `${path}.containers[${position}].ports[${index}].hostPort`;
      return [fieldError.invalid(own, onHost, 'must match `containerPort` when `hostNetwork` is true')];
    }),
  );
}
