import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * What a program of this comparison does with the changes that its cache tells it: it counts them, and when it is told of
 * the pod `end` it prints one line of JSON and waits to be ended.
 */
export function reporter() {
  let told = 0;
  let atFirstUpdate;
  return {
    onChange(kind, pod) {
      told += 1;
      if (kind === 'updated') atFirstUpdate ??= process.cpuUsage();
      if (pod.metadata.name === 'end') {
        const spent = process.cpuUsage(atFirstUpdate);
        setTimeout(() => print(told, (spent.user + spent.system) / 1e6), 200);
      }
    },
  };
}

function print(told, cpuSeconds) {
  setFlagsFromString('--expose_gc');
  const collectGarbage = runInNewContext('gc');
  collectGarbage();
  collectGarbage();
  console.log(JSON.stringify({ told, cpuSeconds, heapBytes: process.memoryUsage().heapUsed }));
}
