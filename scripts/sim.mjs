// npm run sim: explores planners deeper than the tests do, and the API server's watches and its answers to broken requests.
// Every state that planner, world and faults can reach within the bound is visited, so a run depends on nothing but its bound:
// the command that a violation is printed with repeats it.
// And simulates clusters: the real API server, controllers and operators over simulated nodes, time and faults, all drawn from a seed.
//   npm run sim                                              sizes 1 to 7, within the default bound
//   npm run sim -- --size 5 --members 5 --faults 2 --stale 3    one size, another bound; no watches
//   npm run sim -- --watchers 100 --seconds 60 --seed 7         the watches alone: what they do depends on seed and timing
//   npm run sim -- --seeds 1000                                 so many seeds of each simulated scenario, and nothing else
//   npm run sim -- --scenario etcd --seeds 1 --seed 17          one run again
//   npm run sim -- --scenario etcd --checks                     every point of every check for any operator
//   npm run sim -- --scenario etcd --check 'event missed' --point 'event 3'    one point again
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { builtFileOf, fail, root } from './repository.mjs';
import { setup } from './setup.mjs';
import { checkScenarios, simulateScenarios } from './simulate.mjs';

const fuzzTest = 'plane/apiserver/test/mutated-requests.test.ts';
const defaults = { members: '5', faults: '3', stale: '2', states: '5000000' };
const watchDefaults = { watchers: '100', seconds: '60', seed: '1' };
const { values } = parseArgs({
  options: Object.fromEntries([
    ...['size', ...Object.keys(defaults), ...Object.keys(watchDefaults), 'seeds', 'scenario', 'check', 'point'].map(
      (name) => [name, { type: 'string' }],
    ),
    ['checks', { type: 'boolean' }],
  ]),
});
const bound = Object.fromEntries(
  Object.entries(defaults).map(([name, value]) => [name, numberOf(name, values[name] ?? value)]),
);
const isAsked = (names) => names.some((name) => values[name] !== undefined);
const isSimulationAlone = isAsked(['seeds', 'scenario', 'check', 'point', 'checks']);
if (isSimulationAlone) {
  await setup();
  const { scenario, check, point } = values;
  const isCheck = isAsked(['check', 'point', 'checks']);
  const [seed, seeds] = [numberOf('seed', values.seed ?? '1'), numberOf('seeds', values.seeds ?? '100')];
  process.exit(
    isCheck ? await checkScenarios({ scenario, check, point }) : await simulateScenarios({ scenario, seed, seeds }),
  );
}
const areWatchesAlone = isAsked(Object.keys(watchDefaults));
const allSizes = areWatchesAlone ? [] : [1, 2, 3, 4, 5, 6, 7];
const sizes = values.size === undefined ? allSizes : [numberOf('size', values.size)];

await setup();
const { exploreEtcd } = await import('@castellan/etcd');

let failures = 0;
let states = 0;
for (const size of sizes) {
  const startedMs = performance.now();
  const found = exploreEtcd({
    size,
    startSlots: bound.members,
    faults: bound.faults,
    staleness: bound.stale,
    maxStates: bound.states,
  });
  states += found.states;
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const extent = found.isComplete ? '' : `; stopped at ${bound.states} states: liveness not judged`;
  console.log(
    `etcd, size ${size}: ${found.states} states, ${found.staleSituations} stale situations, ${found.transitions} moves, ` +
      `${found.violations.length} violations, ${seconds} s${extent}`,
  );
  for (const { kind, rule, message, trace } of found.violations) console.log(`  ${kind} ${rule}: ${message}\n${trace}`);
  if (found.violations.length > 0) {
    failures += 1;
    const flags = Object.entries({ size, ...bound }).map(([name, value]) => `--${name} ${value}`);
    console.log(`  again: npm run sim -- ${flags.join(' ')}`);
  }
}
if (sizes.length > 0) {
  console.log(
    `${states} states explored from every start of at most ${bound.members} members, with at most ${bound.faults} faults`,
  );
}
const runsWatches = areWatchesAlone || !isAsked(['size', ...Object.keys(defaults)]);
if (runsWatches) failures += await exploreWatches();
const isAll = !isAsked([...Object.keys(defaults), ...Object.keys(watchDefaults), 'size']);
if (isAll) failures += await simulateScenarios({ seed: 1, seeds: 50 });
if (isAll) failures += fuzzApiServer();
const total = sizes.length + (runsWatches ? 1 : 0) + (isAll ? 2 : 0);
console.log(`${total - failures} passed, ${failures} failed`);
process.exit(failures > 0 ? 1 : 0);

/** Sends the API server 10,000 requests gone wrong; the seed that finds something repeats it. */
function fuzzApiServer() {
  const env = { ...process.env, CASTELLAN_FUZZ_REQUESTS: '10000' };
  const { status } = spawnSync(process.execPath, ['--test', builtFileOf(fuzzTest)], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  return status === 0 ? 0 : 1;
}

function numberOf(name, text) {
  if (/^\d+$/.test(text)) return Number(text);
  return fail(`--${name} ${text}: not a whole number`);
}

/** Returns how many failures there were. */
async function exploreWatches() {
  const [watchers, seconds, seed] = Object.entries(watchDefaults).map(([name, value]) =>
    numberOf(name, values[name] ?? value),
  );
  const { watchersUnderCuts } = await import('../plane/apiserver/dist/test/watchers-under-cuts.js');
  try {
    const found = await watchersUnderCuts({ watchers, forMs: seconds * 1000, seed });
    console.log(
      `API server, ${watchers} watchers: ${found.writes} writes, ${found.events} events, ${found.cuts} cuts, ` +
        `${found.relists} new lists, nothing missed, ${seconds} s`,
    );
    return 0;
  } catch (error) {
    console.log(`API server, ${watchers} watchers: ${error.message}`);
    console.log(`  again: npm run sim -- --watchers ${watchers} --seconds ${seconds} --seed ${seed}`);
    return 1;
  }
}
