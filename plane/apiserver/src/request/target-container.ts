import { badRequest } from '../errors.js';
import { at, records, text } from '../json.js';

/** The container of a pod that a request asks for, or the only one. Fails with a 400 in upstream's words. */
export function targetContainer(pod: object, name: string, asked: string): string {
  const namesIn = (field: string) => records(at(pod, 'spec', field)).map((container) => text(container.name) ?? '');
  const containers = namesIn('containers');
  const initContainers = namesIn('initContainers');
  if (asked !== '') {
    if ([...containers, ...initContainers, ...namesIn('ephemeralContainers')].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only] = containers;
  if (containers.length === 1 && only !== undefined) return only;
  const init = initContainers.length === 0 ? '' : ` or one of the init containers: [${initContainers.join(' ')}]`;
  throw badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${containers.join(' ')}]${init}`,
  );
}

/** Fails with a 400 while no node has been chosen for the pod: there is nothing to reach. */
export function assertHasHost(pod: object, name: string): void {
  if ((text(at(pod, 'spec', 'nodeName')) ?? '') === '') throw badRequest(`pod ${name} does not have a host assigned`);
}
