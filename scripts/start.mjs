// npm start: makes the clone ready, then shows what Castellan does: a plane, an etcd cluster, its plan and its data.
// Arguments are those of `castellan demo`.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './repository.mjs';
import { setup } from './setup.mjs';

await setup();

const child = spawn(process.execPath, [join(root, 'bin/castellan'), 'demo', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
// A terminal sends Ctrl-C to both processes: the child stops what it started, and we wait for it.
process.on('SIGINT', () => {});
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('close', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
