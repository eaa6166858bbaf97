import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const jobs = '/apis/batch/v1/namespaces/default/jobs';
const merge = { 'content-type': 'application/merge-patch+json' };
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'registry.example/app:1' }] } };

/** What is wrong with a job, without the words that every refusal begins with. */
async function problem(spec: Record<string, unknown>): Promise<string> {
  const { json } = await api.send('POST', `${jobs}?dryRun=All`, {
    metadata: { name: 'a' },
    spec: { template, ...spec },
  });
  return String(json.message).replace('Job.batch "a" is invalid: ', '');
}

test('a failure policy looks either at exit codes or at conditions, in order and each once', async () => {
  const rules = (...given: unknown[]) => problem({ podFailurePolicy: { rules: given } });
  const path = 'spec.podFailurePolicy.rules[0]';
  assert.equal(
    await rules({ action: 'Ignore' }),
    `${path}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`,
  );
  assert.equal(
    await rules({ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }),
    `${path}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
  );
  assert.equal(
    await rules({ action: 'FailJob', onExitCodes: { operator: 'In', values: [2, 0] } }),
    `[${path}.onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator, ${path}.onExitCodes.values: Invalid value: [2,0]: must be ordered]`,
  );
});

test('failures by index are for indexed jobs', async () => {
  assert.equal(
    await problem({ backoffLimitPerIndex: 1 }),
    'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
  );
  assert.equal(
    await problem({ completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 1, maxFailedIndexes: 3 }),
    'spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions',
  );
});

test('a success policy names indexes that the job has', async () => {
  const indexes = (succeededIndexes: string) =>
    problem({ completionMode: 'Indexed', completions: 5, successPolicy: { rules: [{ succeededIndexes }] } });
  const path = 'spec.successPolicy.rules[0].succeededIndexes';
  assert.equal(await indexes('0,2-4'), 'undefined');
  assert.equal(await indexes('7'), `${path}: Invalid value: "7": error parsing succeededIndexes: too large index: "7"`);
  assert.equal(
    await indexes('3,1'),
    `${path}: Invalid value: "3,1": error parsing succeededIndexes: non-increasing order, previous: 3, current: 1`,
  );
});

test('a job that waits may be told where to run, and an indexed one grows with its pods', async () => {
  await api.send('POST', jobs, { metadata: { name: 'waiting' }, spec: { template, suspend: true } });
  const change = (name: string, spec: unknown) => api.send('PATCH', `${jobs}/${name}`, { spec }, merge);
  const placed = { template: { spec: { nodeSelector: { disk: 'fast' } } } };
  assert.equal((await change('waiting', placed)).status, 200);
  const spec = { template, completionMode: 'Indexed', completions: 2, parallelism: 2 };
  await api.send('POST', jobs, { metadata: { name: 'elastic' }, spec });
  assert.equal((await change('elastic', { completions: 3, parallelism: 3 })).status, 200);
  assert.equal(
    (await change('elastic', { completions: 4 })).json.message,
    'Job.batch "elastic" is invalid: spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism',
  );
  assert.equal((await change('elastic', placed)).status, 422);
});

test('the jobs of a CronJob find their pods by themselves', async () => {
  const spec = { schedule: '* * * * *', jobTemplate: { spec: { template, manualSelector: true } } };
  const { json } = await api.send('POST', '/apis/batch/v1/namespaces/default/cronjobs', {
    metadata: { name: 'a' },
    spec,
  });
  assert.equal(
    json.message,
    'CronJob.batch "a" is invalid: spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
  );
});
