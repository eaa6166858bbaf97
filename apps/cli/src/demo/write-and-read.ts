import type { World } from '@castellan/world';
import { CliError } from '../errors.js';
import { getKey, putKey } from '../etcd/gateway.js';
import type { InstanceMember, InstanceView } from '../etcd/instance-view.js';
import type { Reporter } from '../output/reporter.js';

const firstRunKey = 'castellan/demo/first-run';
const lastRunKey = 'castellan/demo/last-run';

export interface WriteAndRead {
  readonly key: string;
  readonly value: string;
  readonly writtenThrough: string;
  readonly readFrom: string;
  /** What the first run on this data directory wrote; absent in the first run. */
  readonly firstRun?: string;
}

/** Writes a key through one member and reads it back from another one; the first run's key stays for later runs. */
export async function writeAndRead(world: World, view: InstanceView, reporter: Reporter): Promise<WriteAndRead> {
  const [writer, reader] = pickMembers(view);
  const value = new Date(world.clock.now()).toISOString();
  const firstRun = await getKey(reader.clientUrl, firstRunKey);
  if (firstRun === undefined) await putKey(writer.clientUrl, firstRunKey, value);
  else reporter.line(`${firstRunKey} = ${firstRun} is still there: the first run wrote it`);
  await putKey(writer.clientUrl, lastRunKey, value);
  reporter.line(`wrote ${lastRunKey} = ${value} through ${writer.name}`);
  const found = await getKey(reader.clientUrl, lastRunKey);
  if (found !== value) {
    throw new CliError(
      'REFUSED',
      `${reader.name} says ${lastRunKey} is ${found}, and ${writer.name} was told ${value}.`,
      {
        next: 'this must never happen: please report it with the log in the data directory',
      },
    );
  }
  reporter.line(`read  ${lastRunKey} = ${found} from ${reader.name}`);
  return {
    key: lastRunKey,
    value,
    writtenThrough: writer.name,
    readFrom: reader.name,
    ...(firstRun === undefined ? {} : { firstRun }),
  };
}

/** A member that follows and the leader; in a cluster of one it is the same. */
function pickMembers(view: InstanceView): readonly [writer: InstanceMember, reader: InstanceMember] {
  const leader = view.members.find(({ role }) => role === 'leader') ?? view.members[0];
  const follower = view.members.find((member) => member !== leader) ?? leader;
  if (leader === undefined || follower === undefined) {
    throw new CliError('OBJECT_NOT_FOUND', `etcdcluster ${view.namespace}/${view.name} has no members to write to.`);
  }
  return [follower, leader];
}
