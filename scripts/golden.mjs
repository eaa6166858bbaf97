// npm run golden: makes the clone ready, then replays the recorded conversations of tests/golden (its README says how).
import { root, run } from './repository.mjs';
import { setup } from './setup.mjs';

await setup();
const { code } = await run(process.execPath, [`${root}/tests/dist/golden/command.js`, ...process.argv.slice(2)], {
  isShown: true,
});
process.exit(code);
