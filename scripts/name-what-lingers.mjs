// Loaded into the process of each test file. When all its tests have ended and it does not, it says what keeps it.
import { after } from 'node:test';

/** Also for what a file does after its last test: stop planes, remove what they made. */
const graceMs = 60_000;

after(() => {
  const timer = setTimeout(() => {
    const kept = process.getActiveResourcesInfo().filter((name) => name !== 'Timeout');
    const names = [...new Set(kept)].map((name) => `${kept.filter((each) => each === name).length} × ${name}`);
    process.stderr.write(
      `All tests of this file ended ${graceMs / 1000} s ago and its process did not; it is kept by: ${names.join(', ') || 'a timer'}.\n` +
        'Next: see which test starts such a thing and stop it with t.after, so that it stops when the test fails too.\n',
    );
    process.exit(1);
  }, graceMs);
  timer.unref();
});
