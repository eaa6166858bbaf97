import { formatTable } from '../output/table.js';
import type { InstanceView } from './instance-view.js';

/** An instance and its members, as `castellan status` and the demonstration print them. */
export function describeInstance(view: InstanceView): string {
  const version =
    view.version === '' || view.version === view.wantedVersion
      ? view.version
      : `${view.version} (wanted ${view.wantedVersion})`;
  const availability = view.isAvailable
    ? 'available'
    : `not available: ${view.reason === '' ? view.phase : view.reason}`;
  const rows = view.members.map(({ name, role, state, clientUrl }) => [`  ${name}`, role, state, clientUrl]);
  const members =
    rows.length === 0 ? '  no members yet' : formatTable(['  member', 'role', 'state', 'client address'], rows);
  return `\netcd   ${view.namespace}/${view.name}  ${view.ready}/${view.size} ready  ${version}  ${availability}\n${members}`;
}
