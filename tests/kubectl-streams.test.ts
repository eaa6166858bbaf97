import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { type PodSpec, pods } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { kubectlPrograms } from './kubectl-programs.js';
import { type Finished, PlaneProcess, run, world } from './plane-process.js';

/** 1.28 speaks SPDY alone; 1.30 WebSocket for commands and SPDY for ports; the newest WebSocket for both. */
const found = await kubectlPrograms();
const newest = [...found.keys()].sort((left, right) => Number(right) - Number(left))[0];
const versions = [...new Set(['28', '30', newest ?? ''])].filter((version) => found.has(version));
const skip = versions.length === 0 ? 'no kubectl of 1.28 or later is on this machine' : false;
const skipPorts = skip || (existsSync('/usr/bin/busybox') ? false : 'busybox, the web server here, is not installed');
const bytes = randomBytes(5_000_000);
let plane: PlaneProcess;

/** Answers each line, and listens on the loopback of the pod alone. */
const script = `
mkdir /tmp/www && head -c 5000000 /dev/zero >/tmp/www/zeros
busybox httpd -p 127.0.0.1:8080 -h /tmp/www
while read -r line; do echo "heard $line"; done
`;

before(async () => {
  if (skip !== false) return;
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none']);
  const client = await plane.client();
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'talker', namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'busybox:1.36',
          stdin: true,
          command: ['/bin/sh', '-c', script],
          env: [{ name: 'COLOUR', value: 'blue' }],
          workingDir: '/var/tmp',
        },
      ],
    },
  });
  const isReady = async () => {
    const pod = await client.find(pods, { namespace: 'default', name: 'talker' });
    return pod?.status?.containerStatuses?.[0]?.ready === true;
  };
  await waitFor(world, isReady, { what: 'the pod to be ready', deadlineMs: 60_000 });
});
after(async () => {
  if (skip === false) await plane.remove();
});

function kubectl(version: string, args: readonly string[], input?: string): Promise<Finished> {
  return plane.kubectl(args, { program: found.get(version) ?? '', ...(input === undefined ? {} : { input }) });
}

/** Runs a command line in a terminal of its own, of 97 × 31 characters. */
function inTerminal(version: string, args: readonly string[]): Promise<Finished> {
  const words = [found.get(version) ?? '', '--kubeconfig', plane.kubeconfig, ...args].map((word) => `'${word}'`);
  const line = `stty cols 97 rows 31; ${words.join(' ')}`;
  return run('script', ['--quiet', '--return', '--command', line, '/dev/null'], { deadlineMs: 60_000 });
}

test('kubectl exec runs a command as the container would, with both outputs and its exit code', { skip }, async () => {
  for (const version of versions) {
    const command = 'echo "$COLOUR $(pwd) $(hostname)"; echo oops >&2; exit 3';
    const ended = await kubectl(version, ['exec', 'talker', '--', 'sh', '-c', command]);
    assert.equal(ended.stdout, 'blue /var/tmp talker\n', version);
    assert.equal(ended.stderr, 'oops\ncommand terminated with exit code 3\n', version);
    assert.equal(ended.code, 3, version);
  }
});

test('kubectl exec -i gives a command its input, to the end of it', { skip }, async () => {
  for (const version of versions) {
    const input = 'line\n'.repeat(1_000_000);
    const ended = await kubectl(version, ['exec', '-i', 'talker', '--', 'sha1sum'], input);
    assert.equal(ended.stdout.split(' ')[0], createHash('sha1').update(input).digest('hex'), version);
    assert.equal(ended.code, 0, version);
  }
});

test('kubectl exec -it gives a command a terminal of the size of its own', { skip }, async () => {
  for (const version of versions) {
    const command = 'tty; until [ "$(stty size)" = "31 97" ]; do sleep 0.05; done; echo sized; exit 4';
    const ended = await inTerminal(version, ['exec', '-it', 'talker', '--', 'sh', '-c', command.replaceAll("'", '')]);
    // Between the lines there may be the echo of a key: `script` here tells the end of its input by one.
    assert.match(ended.stdout, /\/dev\/pts\/\d+\r\n.*sized\r\n/, version);
    assert.equal(ended.code, 4, version);
  }
});

test('kubectl cp takes 5 MB into a container and back', { skip }, async () => {
  const original = join(plane.directory, 'original');
  await writeFile(original, bytes);
  for (const version of versions) {
    const back = join(plane.directory, `back-${version}`);
    assert.equal((await kubectl(version, ['cp', original, `talker:/var/tmp/copy-${version}`])).code, 0, version);
    assert.equal((await kubectl(version, ['cp', `talker:/var/tmp/copy-${version}`, back])).code, 0, version);
    assert.ok(bytes.equals(await readFile(back)), version);
  }
});

test('kubectl debug looks into a running pod, among the processes of its target', { skip }, async () => {
  for (const version of versions) {
    const name = `debugger-${version}`;
    const look = ['sh', '-c', 'grep -c . /proc/1/comm && cat /proc/*/comm'];
    const wish = ['debug', 'talker', '--image=busybox', '--target=main', '-c', name, '--', ...look];
    assert.equal((await kubectl(version, wish)).code, 0, version);
    const hasLooked = async () =>
      (await kubectl(version, ['logs', 'talker', '-c', name])).stdout.startsWith('1\nbwrap\n');
    await waitFor(world, hasLooked, { what: `what ${name} has seen`, deadlineMs: 60_000 });
  }
});

test("kubectl attach -i speaks with the container's own program, and what it says is logged", { skip }, async (t) => {
  for (const version of versions) {
    const client = start(t, version, ['attach', '-i', 'talker']);
    client.stdin?.write(`hello ${version}\n`);
    await saying(client, `heard hello ${version}\n`);
    client.kill();
    assert.match((await kubectl(version, ['logs', 'talker'])).stdout, new RegExp(`heard hello ${version}\n$`));
  }
});

test("kubectl port-forward reaches a program on the pod's loopback, many times at once", {
  skip: skipPorts,
}, async (t) => {
  for (const version of versions) {
    const client = start(t, version, ['port-forward', 'talker', ':8080']);
    const [, port] = await saying(client, /Forwarding from 127\.0\.0\.1:(\d+) -> 8080/);
    const bodies = Array.from({ length: 8 }, async () => {
      const reply = await fetch(`http://127.0.0.1:${port}/zeros`, { signal: AbortSignal.timeout(30_000) });
      return (await reply.arrayBuffer()).byteLength;
    });
    assert.deepEqual(await Promise.all(bodies), Array(8).fill(5_000_000), version);
    client.kill();
  }
});

test("what cannot be run or reached is said in kubectl's usual words", { skip }, async () => {
  for (const version of versions) {
    const none = await kubectl(version, ['exec', 'nobody', '--', 'true']);
    assert.match(none.stderr, /Error from server \(NotFound\): pods "nobody" not found/, version);
    const other = await kubectl(version, ['exec', 'talker', '-c', 'other', '--', 'true']);
    assert.match(other.stderr, /container other is not valid for pod talker/, version);
  }
});

test('kubectl logs --previous shows the start before, and --tail, --timestamps and --since the end of this one', {
  skip,
}, async (t) => {
  const version = newest ?? '';
  const once = '[ -e /work/once ] || { touch /work/once; echo first; exit 1; }';
  await createPod(t, 'ended-once', `${once}; echo second; echo third; while read -r line; do :; done`);
  const hasRestarted = async () => (await kubectl(version, ['logs', 'ended-once'])).stdout === 'second\nthird\n';
  await waitFor(world, hasRestarted, { what: 'the log of the second start', deadlineMs: 60_000 });
  assert.equal((await kubectl(version, ['logs', 'ended-once', '--previous'])).stdout, 'first\n');
  const last = await kubectl(version, ['logs', 'ended-once', '--tail=1', '--timestamps', '--since=1h']);
  assert.match(last.stdout, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z third\n$/);
  const none = await kubectl(version, ['logs', 'talker', '--previous']);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /previous terminated container "main" in pod "talker" not found/);
});

test('kubectl logs -f ends when the container does, with all that it has said', { skip }, async (t) => {
  const version = newest ?? '';
  await createPod(t, 'ends', 'echo up; read -r line; echo "heard $line"', { restartPolicy: 'Never' });
  const hasBegun = async () => (await kubectl(version, ['logs', 'ends'])).stdout === 'up\n';
  await waitFor(world, hasBegun, { what: 'the container to speak', deadlineMs: 60_000 });
  const follower = start(t, version, ['logs', '-f', 'ends']);
  let output = '';
  follower.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await waitFor(world, () => output === 'up\n', { what: 'the follower to show the first line', deadlineMs: 30_000 });
  start(t, version, ['attach', '-i', 'ends']).stdin?.write('the end\n');
  const hasEnded = () => follower.exitCode !== null || follower.signalCode !== null;
  await waitFor(world, hasEnded, { what: () => `kubectl logs -f to end after ${output}`, deadlineMs: 30_000 });
  assert.equal(follower.exitCode, 0);
  await waitFor(world, () => output === 'up\nheard the end\n', { what: 'its last line', deadlineMs: 10_000 });
});

/** A pod with a `/work` that outlives its containers, and a standard input; it is deleted when the test ends. */
async function createPod(context: TestContext, name: string, line: string, rest: Partial<PodSpec> = {}): Promise<void> {
  const client = await plane.client();
  context.after(() => client.delete(pods, { namespace: 'default', name }));
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'work', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          image: 'busybox:1.36',
          stdin: true,
          command: ['/bin/sh', '-c', line],
          volumeMounts: [{ name: 'work', mountPath: '/work' }],
        },
      ],
      ...rest,
    },
  });
}

/** Runs until it is killed, at the latest when the test ends. */
function start(context: TestContext, version: string, args: readonly string[]): ChildProcess {
  const child = spawn(found.get(version) ?? '', ['--kubeconfig', plane.kubeconfig, ...args], { stdio: 'pipe' });
  context.after(() => child.kill('SIGKILL'));
  return child;
}

/** Waits until a program has written this. */
async function saying(child: ChildProcess, wanted: string | RegExp): Promise<RegExpExecArray | readonly string[]> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const find = () =>
    typeof wanted === 'string' ? output.includes(wanted) && [wanted] : (wanted.exec(output) ?? undefined);
  return await waitFor(world, find, { what: () => `${wanted} in ${JSON.stringify(output)}`, deadlineMs: 30_000 });
}
