import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeUserNamespace } from '../src/index.js';
import { runCommand } from '../src/sandbox/command.js';
import { cannotRunPods, rangesOf, until } from './machine.js';

const nobody = 65_534;
const asNobody = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'];

async function cannotRunRootless(): Promise<string | false> {
  const reason = cannotRunPods();
  if (reason !== false) return reason;
  const ours = fileURLToPath(new URL('../src/index.js', import.meta.url));
  const readable = await runCommand('setpriv', [...asNobody, 'test', '-r', ours]);
  if (readable.exitCode !== 0) return `an ordinary user may not read ${ours}`;
  const tried = await runCommand('setpriv', [...asNobody, 'unshare', '--user', '--map-root-user', '--net', 'true']);
  return tried.exitCode === 0 ? false : `users may not make namespaces here: ${tried.stderr.trim()}`;
}

const skip = await cannotRunRootless();

test('N19 an ordinary user runs pods in a user namespace, is reached from outside, and leaves nothing', {
  skip,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-rootless-'));
  chownSync(directory, nobody, nobody);
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const dataDirectory = JSON.stringify(directory);
  const port = 20_000 + (process.pid % 10_000);
  // Stands for the plane: an agent with one pod, and an HTTP server in place of the API server's.
  const inside = `
    import { createServer } from 'node:http';
    import { pods } from ${JSON.stringify(import.meta.resolve('@castellan/machinery'))};
    import { isReady, shellPod, startAgent } from ${url('./agent-under-test.js')};
    import { openRootlessPort } from ${url('../src/index.js')};
    const agent = await startAgent(${dataDirectory}, { withServices: true });
    await agent.cluster.create(pods, shellPod('a', 'echo "$(id -u) $(hostname)"; sleep 1000'));
    const pod = await agent.podThat('a', 'to be ready', isReady);
    await agent.logIs('a', '0 a\\n');
    // As kubectl cp does, with an archive of somebody whom there is not here.
    const unpack = 'cd /tmp && tar --owner=1000 --group=1000 -cf x.tar -C /etc hosts && tar -xmf x.tar';
    const request = { namespace: 'default', pod: 'a', container: 'main', stdin: false, tty: false };
    const command = await agent.agent.execute({ ...request, command: ['sh', '-c', unpack] }, AbortSignal.timeout(30_000));
    const unpacked = await command.exitCode;
    const server = createServer(async (request, response) => {
      response.end(pod.status.podIP + ' ' + unpacked);
      if (request.url !== '/stop') return;
      await agent.stop('stop');
      process.exit(7);
    });
    server.listen(${port}, '127.0.0.1', () => openRootlessPort(${dataDirectory}, ${port}));
  `;
  const outside = `
    import { get } from 'node:http';
    import { enterRootless, removeUserNamespace } from ${url('../src/index.js')};
    const ask = (path) => new Promise((resolve) => {
      const request = get({ host: '127.0.0.1', port: ${port}, path, agent: false }, async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve(text);
      });
      request.on('error', () => resolve(undefined));
    });
    const plane = await enterRootless({
      dataDirectory: ${dataDirectory},
      command: [process.execPath, '${join(directory, 'inside.mjs')}'],
      environment: {},
      port: ${port},
    });
    let reply;
    for (let tries = 0; tries < 2000 && reply === undefined; tries += 1) {
      reply = await ask('/');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await ask('/stop');
    console.log(JSON.stringify({ reply, exitCode: await plane.exited }));
    await removeUserNamespace(${dataDirectory});
  `;
  writeFileSync(join(directory, 'inside.mjs'), inside);
  writeFileSync(join(directory, 'outside.mjs'), outside);
  chmodSync(directory, 0o755);
  try {
    const ran = await runCommand('setpriv', [...asNobody, process.execPath, join(directory, 'outside.mjs')], {
      deadlineMs: 120_000,
      environment: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: directory },
    });
    assert.equal(ran.exitCode, 0, ran.stderr);
    const { reply, exitCode }: { reply: string; exitCode: number } = JSON.parse(
      ran.stdout.trim().split('\n').at(-1) ?? '',
    );
    assert.equal(reply, `${rangesOf(directory).podCidr.replace('0/24', '2')} 0`);
    assert.equal(exitCode, 7);
    const { pid }: { pid: number } = JSON.parse(readFileSync(join(directory, 'user-namespace.json'), 'utf8'));
    // What has ended is there until its parent has asked how.
    await until('the keeper of the namespace to be gone', () => !existsSync(`/proc/${pid}`));
    assert.deepEqual(commandLinesNaming(directory), [], 'no process is left');
  } finally {
    await removeUserNamespace(directory);
    rmSync(directory, { recursive: true, force: true });
  }
});

function commandLinesNaming(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandLineOf)
    .filter((line) => line.includes(text));
}

/** Processes end while we look: the line of one that has is empty. */
function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
