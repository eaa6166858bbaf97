import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { pods } from '@castellan/machinery';
import { type AgentUnderTest, isReady, shellPod, startAgent } from './agent-under-test.js';
import { cannotRunPods, until, withDataDirectory } from './machine.js';

const skip = cannotRunPods();
const never = new AbortController().signal;
const target = { namespace: 'default', container: 'main', stdin: false, tty: false };

/** Runs `body` with a pod that is ready. */
function withPod(pod: ReturnType<typeof shellPod>, body: (agent: AgentUnderTest, name: string) => Promise<void>) {
  return withDataDirectory(async (directory) => {
    const agent = await startAgent(directory);
    try {
      const { name = '' } = pod.metadata;
      await agent.cluster.create(pods, pod);
      await agent.podThat(name, 'to be ready', isReady);
      await body(agent, name);
    } finally {
      await agent.stop('stop');
    }
  });
}

async function textOf(stream: Readable | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const ordinary = {
  env: [{ name: 'COLOUR', value: 'blue' }],
  workingDir: '/tmp',
  securityContext: { runAsUser: 1234, runAsGroup: 1234 },
  resources: { limits: { memory: '64Mi' } },
};

test('N20 a command has the environment, user, directory and control groups of its container', { skip }, () =>
  withPod(shellPod('a', 'exec sleep 600', { main: ordinary }), async ({ agent }) => {
    const script = 'echo "$COLOUR $(id -u):$(id -g) $(pwd) $(hostname)"; cat /proc/self/cgroup; echo no >&2; exit 5';
    const request = { ...target, pod: 'a', command: ['sh', '-c', script] };
    const process = await agent.execute(request, never);
    const [stdout, stderr] = await Promise.all([textOf(process.stdout), textOf(process.stderr)]);
    assert.match(stdout, /^blue 1234:1234 \/tmp a\n/);
    if (/memory/.test(readFileSync('/proc/self/cgroup', 'utf8'))) assert.match(stdout, /\/main-0/);
    assert.equal(stderr, 'no\n');
    assert.equal(await process.exitCode, 5);
    await assert.rejects(agent.execute({ ...request, container: 'other' }, never), /container not found \("other"\)/);
    await assert.rejects(agent.execute({ ...request, pod: 'b' }, never), /pod does not exist/);
  }),
);

test('N20 what a container tells the loader holds for the command, and for nothing outside of the container', {
  skip,
}, () => {
  const env = [{ name: 'LD_PRELOAD', value: '/no/such.so' }];
  return withPod(shellPod('a', 'exec sleep 600', { main: { env } }), async ({ agent }) => {
    const command = ['sh', '-c', 'echo "$LD_PRELOAD"'];
    const process = await agent.execute({ ...target, pod: 'a', command }, never);
    const [stdout, stderr] = await Promise.all([textOf(process.stdout), textOf(process.stderr)]);
    assert.equal(stdout, '/no/such.so\n');
    assert.equal(stderr.match(/object '\/no\/such\.so' from LD_PRELOAD cannot be preloaded/g)?.length, 1, stderr);
  });
});

test('N20 a command ends with its caller, and what it left behind does not keep its output open', { skip }, () =>
  withPod(shellPod('a', 'exec sleep 600'), async ({ agent }) => {
    const abort = new AbortController();
    const waiting = await agent.execute({ ...target, pod: 'a', command: ['sleep', '600'] }, abort.signal);
    abort.abort();
    assert.equal(await waiting.exitCode, 137);
    const command = ['sh', '-c', 'sleep 600 & echo started'];
    const leaving = await agent.execute({ ...target, pod: 'a', command }, never);
    assert.equal(await textOf(leaving.stdout), 'started\n');
    assert.equal(await leaving.exitCode, 0);
  }),
);

test('N20 a terminal passes on keys and sizes, and its command has one output', { skip }, () =>
  withPod(shellPod('a', 'exec sleep 600'), async ({ agent }) => {
    const script =
      'trap "echo resized to $(stty size)" WINCH; echo ready >&2; while ! read -r x; do :; done; stty size; exit 3';
    const request = { ...target, pod: 'a', stdin: true, tty: true, command: ['sh', '-c', script] };
    const process = await agent.execute(request, never);
    assert.equal(process.stderr, undefined);
    let output = '';
    process.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    await until('the command to be ready', () => output.includes('ready'));
    process.resize({ columns: 99, rows: 33 });
    await until('the command to be told of its size', () => output.includes('resized'));
    process.stdin?.write('go\n');
    assert.equal(await process.exitCode, 3);
    await until('the last output', () => output.includes('33 99'));
  }),
);

test(
  "N21 a container's program reads what those who attach write, and says what it says to all of them",
  { skip },
  () =>
    withPod(
      shellPod('a', 'while read -r x; do echo "heard $x"; done', { main: { stdin: true } }),
      async ({ agent, logIs }) => {
        const first = await agent.attach({ ...target, pod: 'a', stdin: true }, never);
        const listener = new AbortController();
        const second = await agent.attach({ ...target, pod: 'a' }, listener.signal);
        first.stdin?.end('one\n');
        let heard = '';
        second.stdout.on('data', (chunk) => {
          heard += String(chunk);
        });
        await until('the second client to hear it', () => heard === 'heard one\n');
        listener.abort();
        const third = await agent.attach({ ...target, pod: 'a', stdin: true }, never);
        third.stdin?.write('two\n');
        await logIs('a', 'heard one\nheard two\n');
      },
    ),
);

test('N60 who attaches has the two outputs apart, and whoever the program is, it may open them anew', { skip }, () => {
  const main = { stdin: true, securityContext: { runAsUser: 1234, runAsGroup: 1234 } };
  const script = 'while read -r x; do echo "heard $x"; echo "no $x" >>/dev/stderr; done';
  return withPod(shellPod('a', script, { main }), async ({ agent, logIs }) => {
    const client = await agent.attach({ ...target, pod: 'a', stdin: true }, never);
    const heard = { stdout: '', stderr: '' };
    client.stdout.on('data', (chunk) => (heard.stdout += String(chunk)));
    client.stderr?.on('data', (chunk) => (heard.stderr += String(chunk)));
    client.stdin?.write('one\n');
    await until('both outputs to be heard', () => heard.stdout === 'heard one\n' && heard.stderr === 'no one\n');
    await logIs('a', 'heard one\nno one\n');
  });
});

test('N21 with stdinOnce the program reads an end when the first client has gone', { skip }, () => {
  const main = { stdin: true, stdinOnce: true };
  const pod = shellPod('a', 'cat; echo done', { main, restartPolicy: 'Never' });
  return withPod(pod, async ({ agent, podThat, logIs }) => {
    const client = await agent.attach({ ...target, pod: 'a', stdin: true }, never);
    client.stdin?.end('last words\n');
    await podThat('a', 'to have succeeded', ({ status }) => status?.phase === 'Succeeded');
    await logIs('a', 'last words\ndone\n');
  });
});

/** Debian has perl wherever it has a shell. */
const echo =
  'use IO::Socket::INET; $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 7000, Listen => 5); while ($c = $s->accept) { while (<$c>) { print $c "heard $_" } close $c }';

test("N22 a port that is open on a pod's loopback alone is reached, and one that is not is refused", { skip }, () =>
  withPod(shellPod('a', 'exec sleep 600', { main: { command: ['perl', '-e', echo] } }), async ({ agent }) => {
    const request = { namespace: 'default', pod: 'a', port: 7000, at: 'loopback' } as const;
    const socket = await until('the port to be open', () => agent.connect(request, never).catch(() => undefined));
    socket.end('hello\n');
    assert.equal(await textOf(socket), 'heard hello\n');
    await assert.rejects(agent.connect({ ...request, port: 7001 }, never), /connect: connection refused/);
  }),
);
