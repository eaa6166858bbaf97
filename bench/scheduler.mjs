// How fast pods get their nodes: pods that wait already, on nodes that are mere objects, with API server, its storage and the
// scheduler in one process, as in a plane. The peer in the same run is the way before: the cluster read anew from the
// cache for each pod, one binding after the other.
//     node bench/scheduler.mjs [pods [nodes]]                        after `npm run build`

import { schedulerController } from '../plane/scheduler/dist/src/index.js';
import { SchedulerBench } from './scheduler/bench.mjs';
import { rebuildingScheduler } from './scheduler/rebuilding-scheduler.mjs';
import { templates } from './scheduler/templates.mjs';

const pods = Number(process.argv[2] ?? 1000);
const nodes = Number(process.argv[3] ?? 10);
console.log(`${pods} waiting pods on ${nodes} nodes, decided and bound; pods per second`);
console.log(`${'pods'.padEnd(64)}${'now'.padStart(8)}${'before'.padStart(8)}${'ratio'.padStart(8)}   to reach`);
for (const template of templates) {
  const now = await rateOf(schedulerController, template);
  const before = await rateOf(rebuildingScheduler, template);
  const figures = [now.toFixed(0), before.toFixed(0), (now / before).toFixed(1)].map((text) => text.padStart(8));
  console.log(`${template.name.padEnd(64)}${figures.join('')}   ${pods <= 1000 ? '500' : ''}`);
}

async function rateOf(createScheduler, template) {
  const bench = await SchedulerBench.start();
  try {
    await bench.addNodes(nodes);
    await bench.addPods(pods, template.podOf);
    return pods / (await bench.secondsToBindAll(createScheduler()));
  } finally {
    await bench.stop();
  }
}
