import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type ConfigMap, configMaps, secrets } from '@castellan/machinery';
import { type SimulatedWorld, simulatedWorld } from '@castellan/world';
import {
  blocked,
  combineObservers,
  controller,
  createLog,
  createManager,
  explain,
  type Manager,
  type ManagerObserver,
  Metrics,
  managerMetrics,
  type ReconcileEnd,
  type SpanTracer,
  serveManagers,
  settled,
  spanObserver,
  TerminalError,
} from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

const key = { namespace: 'default', name: 'a' };

interface Running {
  readonly world: SimulatedWorld;
  readonly client: FakeCluster;
  readonly manager: Manager;
  end(): Promise<void>;
}

/** A manager of one controller of config maps, which keeps a secret for each. */
async function run(
  t: TestContext,
  observer: ManagerObserver,
  reconcile?: Parameters<typeof controller<ConfigMap>>[1]['reconcile'],
): Promise<Running> {
  const world = simulatedWorld(3);
  const client = new FakeCluster();
  await client.create(configMaps, { metadata: key, data: { mode: 'quiet' } });
  const keeper = controller(configMaps, {
    name: 'keeper',
    owns: [secrets],
    reconcile:
      reconcile ??
      (async (object, context) => {
        await context.ensure(secrets, { metadata: { name: 'a' }, type: 'Opaque' });
        return object.data?.mode === 'loud' ? blocked('it is too loud', 'turn it down') : settled('it is kept');
      }),
  });
  const log = createLog({ write: () => undefined, world });
  const manager = createManager({ client, world, log, controllers: [keeper], observer, wholeCache: true });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  const end = async () => {
    stop.abort(new Error('stop'));
    await world.run(ended, 60_000);
  };
  t.after(end);
  await world.advance(1_000);
  return { world, client, manager, end };
}

test('metrics have the names and labels of controller-runtime and client-go, and the numbers of what was done', async (t) => {
  const metrics = new Metrics();
  const observer = managerMetrics(metrics);
  observer.onReply({ method: 'GET', host: '127.0.0.1:7443', status: 200 });
  observer.onReply({ method: 'GET', host: '127.0.0.1:7443', status: undefined });
  const running = await run(t, observer);
  const lines = metrics.text().split('\n');
  const labels = 'name="keeper",controller="keeper"';
  for (const line of [
    '# TYPE controller_runtime_reconcile_total counter',
    'controller_runtime_reconcile_total{controller="keeper",result="error"} 0',
    'controller_runtime_max_concurrent_reconciles{controller="keeper"} 1',
    'controller_runtime_active_workers{controller="keeper"} 0',
    '# TYPE controller_runtime_reconcile_time_seconds histogram',
    `workqueue_depth{${labels}} 0`,
    `workqueue_unfinished_work_seconds{${labels}} 0`,
    'rest_client_requests_total{code="200",host="127.0.0.1:7443",method="GET"} 1',
    'rest_client_requests_total{code="<error>",host="127.0.0.1:7443",method="GET"} 1',
  ]) {
    assert.ok(lines.includes(line), `${line} is not in\n${lines.join('\n')}`);
  }
  const numberOf = (series: string) =>
    Number(
      lines
        .find((line) => line.startsWith(series))
        ?.split(' ')
        .at(-1),
    );
  const successes = numberOf('controller_runtime_reconcile_total{controller="keeper",result="success"}');
  assert.ok(successes >= 1);
  assert.equal(numberOf('controller_runtime_reconcile_time_seconds_count{controller="keeper"}'), successes);
  assert.equal(numberOf(`workqueue_work_duration_seconds_count{${labels}}`), successes);
  assert.ok(numberOf(`workqueue_adds_total{${labels}}`) >= successes);
  await running.end();
  assert.ok(!metrics.text().includes(`workqueue_depth{${labels}}`), '11: a closed queue has no depth');
});

test('failures, terminal failures and missed deadlines are counted apart', async (t) => {
  const metrics = new Metrics();
  let isTerminal = false;
  const running = await run(t, managerMetrics(metrics), () => {
    if (isTerminal) throw new TerminalError('never');
    isTerminal = true;
    throw new Error('not yet');
  });
  await running.world.advance(1_000);
  const text = metrics.text();
  assert.match(text, /^controller_runtime_reconcile_errors_total\{controller="keeper"\} 2$/m);
  assert.match(text, /^controller_runtime_terminal_reconcile_errors_total\{controller="keeper"\} 1$/m);
  assert.match(text, /^controller_runtime_reconcile_timeouts_total\{controller="keeper"\} 0$/m);
  assert.match(text, /^workqueue_retries_total\{name="keeper",controller="keeper"\} 1$/m);
});

test('a span is one reconcile, with its trigger and how it ended', async (t) => {
  const spans: Record<string, unknown>[] = [];
  const tracer: SpanTracer = {
    startActiveSpan(name, { attributes }, work) {
      const span: Record<string, unknown> = { name, ...attributes };
      return work({
        setAttribute: (attribute, value) => {
          span[attribute] = value;
        },
        setStatus: ({ code, message }) => {
          span.status = `${code} ${message}`;
        },
        end: () => spans.push(span),
      });
    },
  };
  const ends: ReconcileEnd[] = [];
  const seen: ManagerObserver = { reconcileEnded: (_, end) => ends.push(end) };
  let tries = 0;
  await run(t, combineObservers(spanObserver(tracer), seen), () => {
    tries++;
    if (tries === 1) throw new Error('not yet');
    return settled('now');
  });
  assert.equal(spans.length, 2);
  assert.deepEqual(
    spans.map((span) => [span.name, span['castellan.key'], span['castellan.outcome'], span.status]),
    [
      ['reconcile keeper', 'default/a', 'failed', '2 not yet'],
      ['reconcile keeper', 'default/a', 'done', undefined],
    ],
  );
  assert.match(String(spans[1]?.['castellan.trigger']), /^retry 1 after: not yet/);
  assert.deepEqual(
    ends.map(({ outcome, message }) => [outcome, message]),
    [
      ['failed', 'not yet'],
      ['done', 'now'],
    ],
  );
});

test('an explanation has the trigger with the fields that changed, the writes, and the decision with its remedy', async (t) => {
  const { client, world, manager } = await run(t, {});
  const object = await client.get(configMaps, key);
  await client.update(configMaps, { ...object, data: { mode: 'loud' } });
  await world.advance(10);
  const [explanation, ...others] = explain([manager], 'ConfigMaps', key);
  assert.deepEqual(others, []);
  const { last } = explanation ?? {};
  assert.equal(last?.trigger, 'configmaps default/a was updated');
  assert.deepEqual(last?.changed, ['data.mode']);
  assert.deepEqual(last?.decision, { kind: 'blocked', reason: 'it is too loud', remedy: 'turn it down' });
  assert.equal(last?.requeueAfterMs, 60_000);
  assert.deepEqual(explain([manager], 'secret', key), [], 'no controller is for secrets');
  assert.equal(explain([manager], 'configmap', { ...key, name: 'b' })[0]?.last, undefined);
});

test('what a reconcile wrote is in its explanation', async (t) => {
  const explained: (readonly string[] | undefined)[] = [];
  let manager: Manager | undefined;
  const observer: ManagerObserver = {
    reconcileEnded: () => {
      if (manager !== undefined) explained.push(explain([manager], 'configmap', key)[0]?.last?.writes);
    },
  };
  const running = await run(t, observer);
  manager = running.manager;
  await running.client.delete(secrets, key);
  await running.world.advance(10);
  assert.deepEqual(explained[0], ['created Secret default/a']);
});

test('the server answers named checks, metrics and explanations, and says what else there is', async (t) => {
  const metrics = new Metrics();
  const { manager } = await run(t, managerMetrics(metrics));
  const server = await serveManagers({
    managers: () => [manager],
    metrics,
    readinessChecks: { disk: () => 'the disk is full' },
    listen: { host: '127.0.0.1', port: 0 },
  });
  t.after(() => server.close());
  const ask = (path: string, method = 'GET') => read(server.port, path, method);
  assert.deepEqual(await ask('/healthz'), { status: 200, text: 'ok' });
  assert.deepEqual(await ask('/healthz?verbose'), {
    status: 200,
    text: '[+]ping ok\n[+]leader-election ok\nhealthz check passed\n',
  });
  assert.deepEqual(await ask('/readyz'), {
    status: 500,
    text: '[+]caches ok\n[-]disk failed: the disk is full\nreadyz check failed\n',
  });
  assert.deepEqual(await ask('/readyz/caches'), { status: 200, text: 'ok' });
  assert.equal((await ask('/readyz/nothing')).status, 404);
  assert.match((await ask('/metrics')).text, /^workqueue_adds_total\{/m);
  const [explanation] = JSON.parse((await ask('/explain?kind=configmap&key=default/a')).text);
  assert.equal(explanation.last.decision.reason, 'it is kept');
  assert.match((await ask('/other')).text, /\/healthz, \/readyz, \/metrics, \/explain/);
  assert.equal((await ask('/metrics', 'POST')).status, 405);
});

function read(port: number, path: string, method: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, method, agent: false }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (chunk: string) => {
        text += chunk;
      });
      reply.on('end', () => resolve({ status: reply.statusCode, text }));
    });
    asking.on('error', reject);
    asking.end();
  });
}

test('a histogram counts into the bucket of each bound, and a name is made once', () => {
  const metrics = new Metrics();
  const histogram = metrics.histogram('sizes', 'How large.', [1, 10]);
  for (const value of [0.5, 1, 5, 50]) histogram.observe({ of: 'a "b"' }, value);
  assert.equal(
    metrics.text(),
    [
      '# HELP sizes How large.',
      '# TYPE sizes histogram',
      'sizes_bucket{of="a \\"b\\"",le="1"} 2',
      'sizes_bucket{of="a \\"b\\"",le="10"} 3',
      'sizes_bucket{of="a \\"b\\"",le="+Inf"} 4',
      'sizes_sum{of="a \\"b\\""} 56.5',
      'sizes_count{of="a \\"b\\""} 4',
      '',
    ].join('\n'),
  );
  assert.throws(() => metrics.counter('sizes', 'Again.'), /made before/);
});
