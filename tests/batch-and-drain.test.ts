import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { jobs, podDisruptionBudgets } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { PlaneProcess, world } from './plane-process.js';

let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up(['--operators', 'none', '--nodes', '2']);
});
after(async () => await plane.remove());

/** Fails with what kubectl said. */
async function kubectl(args: string, input?: string): Promise<string> {
  const { code, stdout, stderr } = await plane.kubectl(args.split(' '), input === undefined ? {} : { input });
  assert.equal(code, 0, `kubectl ${args}:\n${stdout}${stderr}`);
  return stdout;
}

test('an indexed Job runs as processes that know their index, is counted, and goes when its time is over', async () => {
  const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: squares}
spec:
  completions: 3
  parallelism: 2
  completionMode: Indexed
  backoffLimitPerIndex: 0
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
        command: [sh, -c, 'echo $HOSTNAME $((JOB_COMPLETION_INDEX * JOB_COMPLETION_INDEX)); test $JOB_COMPLETION_INDEX != 1']
`;
  await kubectl('apply -f -', job);
  await kubectl('wait --for=condition=failed job/squares --timeout=30s');
  const { status } = await (await plane.client()).get(jobs, { namespace: 'default', name: 'squares' });
  assert.deepEqual(
    [status?.succeeded, status?.failed, status?.completedIndexes, status?.failedIndexes],
    [2, 1, '0,2', '1'],
  );
  const logs = await kubectl('logs -l job-name=squares');
  assert.deepEqual(logs.trim().split('\n').sort(), ['squares-0 0', 'squares-1 1', 'squares-2 4']);
  await kubectl('patch job squares --type=merge -p {"spec":{"ttlSecondsAfterFinished":0}}');
  await kubectl('wait --for=delete pods -l job-name=squares --timeout=30s');
});

test('a Job is made from a CronJob by hand, and told as one that the CronJob did not make', async () => {
  await kubectl('create cronjob backup --image=busybox --schedule=@yearly -- date');
  await kubectl('create job by-hand --from=cronjob/backup');
  await kubectl('wait --for=condition=complete job/by-hand --timeout=30s');
  const events = await kubectl(
    'get events --field-selector involvedObject.kind=CronJob -o jsonpath={.items[*].reason}',
  );
  assert.match(events, /UnexpectedJob/);
});

test('kubectl top shows what nodes, pods and containers use, and says when there is nothing yet', async () => {
  const missing = await plane.kubectl(['top', 'pod', 'nothing']);
  assert.match(missing.stderr, /pods "nothing" not found/);
  const pod = `
apiVersion: v1
kind: Pod
metadata: {name: spinning, labels: {app: spinning}}
spec:
  containers:
  - {name: spinner, image: busybox, command: [sh, -c, 'while :; do :; done'], resources: {limits: {cpu: 200m}}}
  - {name: sleeper, image: busybox, command: [sleep, '1000']}
`;
  await kubectl('apply -f -', pod);
  await kubectl('wait --for=condition=Ready pod/spinning --timeout=30s');
  const lines = (await kubectl('top pods -l app=spinning --containers --no-headers')).trim().split('\n').sort();
  assert.deepEqual(
    lines.map((line) => line.split(/\s+/).slice(0, 2)),
    [
      ['spinning', 'sleeper'],
      ['spinning', 'spinner'],
    ],
  );
  assert.match(lines[1] ?? '', /^spinning +spinner +[1-9]\d*m +\d+Mi/);
  assert.equal((await kubectl('top nodes --no-headers')).trim().split('\n').length, 2);
  await kubectl('delete pod spinning --now');
});

test('kubectl drain waits for a disruption budget, and ends when the pods are on the other node', async () => {
  const manifest = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: busybox
        command: [sleep, '1000']
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`;
  const [first = '', second = ''] = (await kubectl('get nodes -o name')).trim().split('\n');
  await kubectl(`cordon ${second}`);
  await kubectl('apply -f -', manifest);
  await kubectl('wait --for=jsonpath={.status.readyReplicas}=2 rs/web --timeout=30s');
  await kubectl(`uncordon ${second}`);
  const client = await plane.client();
  await waitFor(
    world,
    async () => {
      const { status } = await client.get(podDisruptionBudgets, { namespace: 'default', name: 'web' });
      return status?.disruptionsAllowed === 1 && status.expectedPods === 2;
    },
    { what: 'the budget to allow one disruption', deadlineMs: 10_000 },
  );
  const { code, stdout, stderr } = await plane.kubectl(['drain', first, '--timeout=60s', '--force']);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stderr, /Cannot evict pod as it would violate the pod's disruption budget/);
  const left = await kubectl(`get pods -l app=web -o jsonpath={.items[*].spec.nodeName}`);
  assert.deepEqual(new Set(left.split(' ')), new Set([second.replace('node/', '')]));
});
