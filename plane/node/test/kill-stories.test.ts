import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Pod, pods } from '@castellan/machinery';
import { requireCommand } from '../src/sandbox/command.js';
import { bridgeName } from '../src/sandbox/plane-network.js';
import { isReady, mainStatus, shellPod, withAgent } from './agent-under-test.js';
import { cannotRunPods, until } from './machine.js';

const skip = cannotRunPods();

/** A container's first start has these processes: the supervisor's shell, and those of the container, its pid 1 first. */
function processesOf(directory: string, pod: Pod): { readonly supervisor: number; readonly inside: readonly number[] } {
  const state = join(directory, 'pods', pod.metadata.uid ?? '', 'containers/main/0/state');
  const pid = Number(/"child-pid": (\d+)/.exec(readFileSync(join(state, 'info'), 'utf8'))?.[1]);
  const space = readlinkSync(`/proc/${pid}/ns/pid`);
  const inside = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && spaceOf(name) === space)
    .map(Number)
    .sort((a, b) => a - b);
  return { supervisor: Number.parseInt(readFileSync(join(state, 'process'), 'utf8'), 10), inside };
}

function spaceOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

const lastExit = (pod: Pod) => mainStatus(pod).lastState?.terminated;
const hasRestarted = (pod: Pod) => isReady(pod) && mainStatus(pod).restartCount === 1;

async function isGone(pids: readonly number[]): Promise<void> {
  await until('its processes to be gone', () => pids.every((pid) => spaceOf(String(pid)) === undefined));
}

test(
  'N48 whichever process of a container is killed, all of them are gone, and the restart policy decides',
  { skip },
  withAgent(async ({ cluster, podThat }, directory) => {
    const victims = [
      { name: 'program', victim: ({ inside }: ReturnType<typeof processesOf>) => inside[1], exit: ['Error', 137] },
      { name: 'pid-1', victim: ({ inside }: ReturnType<typeof processesOf>) => inside[0], exit: ['Error', 137] },
      {
        name: 'supervisor',
        victim: ({ supervisor }: ReturnType<typeof processesOf>) => supervisor,
        exit: ['ContainerStatusUnknown', 137],
      },
    ];
    await Promise.all(
      victims.map(async ({ name, victim, exit }) => {
        await cluster.create(pods, shellPod(name, 'sleep 1000 & exec sleep 1000'));
        const before = processesOf(directory, await podThat(name, 'to be ready', isReady));
        const pid = victim(before);
        assert.ok(pid !== undefined);
        process.kill(pid, 'SIGKILL');
        const after = await podThat(name, 'to have restarted', hasRestarted);
        assert.deepEqual([lastExit(after)?.reason, lastExit(after)?.exitCode], exit);
        await isGone(before.inside);
      }),
    );
  }),
);

test(
  'N48 a network that somebody deletes is made anew, with its address, and the containers are started in it',
  { skip },
  withAgent(async ({ cluster, podThat, podGone, eventsOf }, directory) => {
    await cluster.create(pods, shellPod('a', 'exec sleep 1000'));
    const pod = await podThat('a', 'to be ready', isReady);
    const before = processesOf(directory, pod);
    const { networkIndex } = JSON.parse(
      readFileSync(join(directory, 'pods', pod.metadata.uid ?? '', 'pod.json'), 'utf8'),
    );
    await requireCommand('ip', ['netns', 'delete', `${bridgeName(directory)}-${networkIndex}`]);
    const after = await podThat('a', 'to have restarted', hasRestarted);
    assert.equal(after.status?.podIP, pod.status?.podIP);
    await isGone(before.inside);
    await until('the event', async () =>
      (await eventsOf('a')).includes('SandboxChanged Pod sandbox changed, it will be killed and re-created.'),
    );
    await cluster.delete(pods, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 1 });
    await podGone('a');
  }),
);
