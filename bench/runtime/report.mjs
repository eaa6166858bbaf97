import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * What a program of this comparison does with the changes that its cache tells it: it counts them, and when it is told of
 * the pod `end` it prints one line of JSON and waits to be ended.
 */
export function reporter() {
  let told = 0;
  let updatedMs;
  return {
    onChange(kind, pod) {
      told += 1;
      if (kind === 'updated') updatedMs ??= performance.now();
      if (pod.metadata.name === 'end') setTimeout(() => print(told, updatedMs, performance.now()), 200);
    },
  };
}

function print(told, updatedMs, endMs) {
  setFlagsFromString('--expose_gc');
  const collectGarbage = runInNewContext('gc');
  collectGarbage();
  collectGarbage();
  const seconds = updatedMs === undefined ? 0 : (endMs - 200 - updatedMs) / 1_000;
  console.log(JSON.stringify({ told, seconds, heapBytes: process.memoryUsage().heapUsed }));
}
