// Clusters on a virtual clock: scenarios under faults that follow from a seed, and the checks for any operator. For npm run sim.
import { fail } from './repository.mjs';

const progressMs = 5_000;

/** Runs so many seeds of each scenario, and tells of each that fails; gives 1 where one did, else 0. */
export async function simulateScenarios({ scenario, seed, seeds }) {
  let failures = 0;
  for (const [name, { underFaults }] of await chosen(scenario)) {
    if (underFaults === undefined) continue;
    const startedMs = performance.now();
    let shownMs = startedMs;
    let simulatedMs = 0;
    let entries = 0;
    const told = (done) => {
      const seconds = (performance.now() - startedMs) / 1000;
      const minutes = Math.round(simulatedMs / 60_000);
      return (
        `${name}: ${done} of ${seeds} seeds, ${minutes} simulated minutes, ${entries} entries of history, ` +
        `${seconds.toFixed(1)} s, ${(done / seconds).toFixed(1)} seeds/s`
      );
    };
    for (let index = 0; index < seeds; index++) {
      const own = seed + index;
      try {
        const cluster = await underFaults(own, `npm run sim -- --scenario ${name} --seeds 1 --seed ${own}`);
        simulatedMs += cluster.world.clock.monotonicNow();
        entries += cluster.history().length;
        await cluster.stop();
      } catch (error) {
        failures += 1;
        console.log(`${name}, seed ${own}: ${error.message}`);
      }
      if (performance.now() - shownMs < progressMs || index === seeds - 1) continue;
      shownMs = performance.now();
      console.log(`  ${told(index + 1)}`);
    }
    console.log(`${told(seeds)}, ${failures} failures`);
  }
  return failures > 0 ? 1 : 0;
}

/** Tries every point of every check, or those that are asked for; gives 1 where one failed, else 0. */
export async function checkScenarios({ scenario, check, point }) {
  const { checkNames, checkOperator } = await import('@castellan/testkit');
  if (check !== undefined && !checkNames.includes(check)) fail(`--check ${check}: one of ${checkNames.join(', ')}`);
  let failures = 0;
  for (const [name, { checks }] of await chosen(scenario)) {
    const startedMs = performance.now();
    const report = await checkOperator(checks, {
      ...(check === undefined ? {} : { checks: [check] }),
      ...(point === undefined ? {} : { point }),
      replay: (at) => `npm run sim -- --scenario ${name} --check '${at.check}' --point '${at.point}'`,
    });
    failures += report.failures.length;
    console.log(`${report}${report.tried} points tried, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  }
  return failures > 0 ? 1 : 0;
}

/** What every one has: `checks`, the scenario of the checks; and most have `underFaults`, a run of a seed. */
async function chosen(scenario) {
  const { etcdUnderFaults } = await import('../tests/dist/simulation/etcd-scenario.js');
  const { etcdChecks } = await import('../tests/dist/simulation/etcd-checks.js');
  const { greeterChecks, greeterUnderFaults } = await import('../core/testkit/dist/test/greeter-scenario.js');
  const { workloadChecks } = await import('../tests/dist/simulation/workload-checks.js');
  const { growingJob } = await import('../tests/dist/simulation/job-checks.js');
  const { cronJobChecks } = await import('../tests/dist/simulation/cron-job-checks.js');
  const { disruptionChecks } = await import('../tests/dist/simulation/disruption-checks.js');
  const { quotaChecks } = await import('../tests/dist/simulation/quota-checks.js');
  const { lostPodChecks } = await import('../tests/dist/simulation/lost-pod-checks.js');
  const { tokenSecretChecks } = await import('../tests/dist/simulation/token-secret-checks.js');
  const { finishedJobChecks } = await import('../tests/dist/simulation/finished-job-checks.js');
  const { taintChecks } = await import('../tests/dist/simulation/taint-checks.js');
  const { volumeChecks } = await import('../tests/dist/simulation/volume-checks.js');
  const volumes = [volumeChecks('plane'), volumeChecks('nodes')];
  const scenarios = {
    ...Object.fromEntries(
      [
        ...[...workloadChecks, growingJob, cronJobChecks, disruptionChecks],
        ...[quotaChecks, lostPodChecks, tokenSecretChecks, finishedJobChecks, taintChecks, ...volumes],
      ].map((checks) => [checks.name, { checks }]),
    ),
    greeter: { underFaults: greeterUnderFaults, checks: greeterChecks() },
    etcd: { underFaults: etcdUnderFaults, checks: etcdChecks },
  };
  if (scenario !== undefined && !(scenario in scenarios)) {
    fail(`--scenario ${scenario}: one of ${Object.keys(scenarios).join(', ')}`);
  }
  return Object.entries(scenarios).filter(([name]) => scenario === undefined || name === scenario);
}
