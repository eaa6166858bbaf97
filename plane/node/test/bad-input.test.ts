import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Container, pods, secrets } from '@castellan/machinery';
import { isReady, mainStatus, shellPod, withAgent } from './agent-under-test.js';
import { cannotRunPods, until } from './machine.js';

const skip = cannotRunPods();

test(
  'N14 a probe that hangs is ended at its deadline, is one event, and leaves nothing running',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }) => {
    const exec = { command: ['sleep', '98765'] };
    const livenessProbe = { exec, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 100 };
    await cluster.create(pods, shellPod('a', 'exec sleep 600', { main: { livenessProbe } }));
    const event = 'Unhealthy Liveness probe failed: command timed out: "sleep 98765" timed out after 1s';
    await until('the event', async () => (await eventsOf('a')).includes(event));
    assert.equal(mainStatus(await podThat('a', 'to be there', () => true)).restartCount, 0);
    // The next look may have begun; more than one at a time there never is.
    assert.equal(running('98765').length <= 1, true);
  }),
);

test(
  'N14 a program that cannot be found is one Warning event, without a Started one, and its pod waits with the reason',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }) => {
    await cluster.create(pods, shellPod('a', '', { main: { command: ['/no/such/program'] } }));
    await podThat('a', 'to back off', (pod) => mainStatus(pod).state?.waiting?.reason === 'CrashLoopBackOff');
    await until('the event', async () => (await eventsOf('a')).some((text) => text.startsWith('Failed')));
    const events = await eventsOf('a');
    const failures = events.filter((text) => text.startsWith('Failed'));
    assert.deepEqual(failures, ['Failed Error: bwrap: execvp /no/such/program: No such file or directory']);
    assert.equal(
      events.some((text) => text.startsWith('Started')),
      false,
    );
  }),
);

test(
  'N6 a container that ends at once and again keeps the files of its last two starts, and its pod is deleted as any other',
  { skip },
  withAgent(async ({ cluster, podThat, podGone }, directory) => {
    await cluster.create(pods, shellPod('a', 'exit 1'));
    const { metadata } = await podThat('a', 'to back off', (pod) => mainStatus(pod).restartCount === 1);
    const starts = join(directory, 'pods', metadata.uid ?? '', 'containers/main');
    assert.equal(readdirSync(starts).length, 2);
    await cluster.delete(pods, { namespace: 'default', name: 'a' });
    await podGone('a');
  }),
);

test(
  'N46 a file of a secret that only its owner may read is read by the pod’s fsGroup as well',
  { skip },
  withAgent(async ({ cluster, podThat, logIs }) => {
    const data = { key: Buffer.from('hidden').toString('base64') };
    await cluster.create(secrets, { metadata: { namespace: 'default', name: 's' }, type: 'Opaque', data });
    const script = 'cat /s/key; stat -L -c " %u:%g %a" /s/key';
    await cluster.create(
      pods,
      shellPod('a', script, {
        restartPolicy: 'Never',
        securityContext: { runAsUser: 1000, fsGroup: 3000 },
        volumes: [{ name: 's', secret: { secretName: 's', defaultMode: 0o400 } }],
        main: { volumeMounts: [{ name: 's', mountPath: '/s' }] },
      }),
    );
    await podThat('a', 'to have succeeded', ({ status }) => status?.phase === 'Succeeded');
    await logIs('a', 'hidden 0:3000 440\n');
  }),
);

test(
  'N11 a program is asked to end by the signal that its manifest names',
  { skip },
  withAgent(async ({ cluster, podThat, logIs, podGone }, directory) => {
    // Younger than the published types.
    const lifecycle = { stopSignal: 'SIGUSR1' } as Container['lifecycle'];
    const shared = { name: 'shared', hostPath: { path: join(directory, 'shared'), type: 'DirectoryOrCreate' } };
    const script = 'trap "echo asked >/shared/word; exit 0" USR1; echo up; while :; do sleep 0.02; done';
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
    const main = { volumeMounts, ...(lifecycle === undefined ? {} : { lifecycle }) };
    await cluster.create(pods, shellPod('a', script, { volumes: [shared], main }));
    await podThat('a', 'to be ready', isReady);
    await logIs('a', 'up\n');
    await cluster.delete(pods, { namespace: 'default', name: 'a' });
    await podGone('a');
    assert.equal(readFileSync(join(directory, 'shared/word'), 'utf8'), 'asked\n');
  }),
);

/** The processes of this machine with a word on their command line. */
function running(word: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words[0] === 'sleep' && words.includes(word);
    } catch {
      return false;
    }
  });
}
