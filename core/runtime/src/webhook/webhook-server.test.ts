import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { applyJsonPatch, defineKind, fieldError, isRecord, type JsonRecord, s } from '@castellan/machinery';
import { realWorld } from '@castellan/world';
import { deferred } from '../deferred.js';
import { combineObservers } from '../observe/manager-observer.js';
import { Metrics } from '../observe/metrics.js';
import { spanObserver } from '../observe/span-observer.js';
import { webhookMetrics } from '../observe/webhook-metrics.js';
import type { WebhookObserver } from '../observe/webhook-observer.js';
import { mutationReview, validationReview } from './admission-review.js';
import { conversionReview } from './conversion-review.js';
import { renewedCertificates } from './renewed-certificates.js';
import { webhook } from './webhook.js';
import { type ReviewHandler, WebhookServer } from './webhook-server.js';

const Widget = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  spec: s.object({ size: s.integer(), colour: s.string().optional() }),
}).withVersion('v1alpha1', {
  spec: s.object({ count: s.integer() }),
  toHub: ({ spec }) => ({ spec: { size: spec.count } }),
  fromHub: ({ spec }) => {
    if (spec.size > 100) throw new Error(`v1alpha1 cannot say a size of ${spec.size}`);
    return { spec: { count: spec.size } };
  },
});

const widgets = webhook(Widget, {
  validate: ({ metadata, spec }, { old, operation, user, isDryRun }) => ({
    ...(old !== undefined && spec.size < old.spec.size
      ? { errors: [fieldError.forbidden('spec.size', 'may not shrink')] }
      : {}),
    ...(metadata.name === 'reserved' ? { refusal: `the name is not for ${user.username}` } : {}),
    warnings: [`${operation}${isDryRun ? ', dry run' : ''}`],
  }),
  mutate: (object) => ({ ...object, spec: { ...object.spec, colour: object.spec.colour ?? 'red' } }),
});

const object = (size: number, name = 'a') => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size },
});

const review = (asked: JsonRecord) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u1', userInfo: { username: 'jane', groups: ['staff'] }, ...asked },
});

const never = new AbortController().signal;

test('WH1 a verdict becomes the refusal that the API server itself would give, with each field, or lets pass; warnings either way', async () => {
  const shrunk = review({ operation: 'UPDATE', object: object(2), oldObject: object(3) });
  const refusal = 'Widget.example.com "a" is invalid: spec.size: Forbidden: may not shrink';
  assert.deepEqual(await validationReview(widgets, shrunk, never), {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: 'u1',
      allowed: false,
      status: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: refusal,
        reason: 'Invalid',
        details: {
          name: 'a',
          group: 'example.com',
          kind: 'Widget',
          causes: [{ reason: 'FieldValueForbidden', message: 'Forbidden: may not shrink', field: 'spec.size' }],
        },
        code: 422,
      },
      warnings: ['UPDATE'],
    },
  });
  const passed = await validationReview(
    widgets,
    review({ operation: 'CREATE', object: object(2), dryRun: true }),
    never,
  );
  assert.deepEqual(passed.response, { uid: 'u1', allowed: true, warnings: ['CREATE, dry run'] });
  const named = await validationReview(widgets, review({ operation: 'CREATE', object: object(2, 'reserved') }), never);
  assert.ok(isRecord(named.response) && isRecord(named.response.status));
  assert.equal(named.response.status.message, 'the name is not for jane');
  assert.equal(named.response.status.code, 403);
});

test('WH2 what mutate gives becomes the patch to it; nothing where nothing changes', async () => {
  const before = object(2);
  const { response } = await mutationReview(widgets, review({ operation: 'CREATE', object: before }), never);
  assert.ok(isRecord(response) && typeof response.patch === 'string');
  const patch: unknown = JSON.parse(Buffer.from(response.patch, 'base64').toString());
  assert.deepEqual(patch, [{ op: 'add', path: '/spec/colour', value: 'red' }]);
  assert.deepEqual(applyJsonPatch(before, patch), { ...before, spec: { size: 2, colour: 'red' } });
  const blue = { ...before, spec: { size: 2, colour: 'blue' } };
  const unchanged = await mutationReview(widgets, review({ operation: 'CREATE', object: blue }), never);
  assert.deepEqual(unchanged.response, { uid: 'u1', allowed: true });
});

test('WH3 objects are converted as their kind says, and one that cannot be fails the review with the words of its function', () => {
  const asked = (desiredAPIVersion: string, objects: readonly unknown[]) =>
    conversionReview([Widget], { kind: 'ConversionReview', request: { uid: 'u2', desiredAPIVersion, objects } })
      .response;
  assert.deepEqual(asked('example.com/v1alpha1', [object(2), object(3)]), {
    uid: 'u2',
    convertedObjects: [2, 3].map((count) => ({
      apiVersion: 'example.com/v1alpha1',
      kind: 'Widget',
      metadata: { name: 'a' },
      spec: { count },
    })),
    result: { status: 'Success' },
  });
  assert.deepEqual(asked('example.com/v1alpha1', [object(2), object(101)]), {
    uid: 'u2',
    convertedObjects: [],
    result: { status: 'Failure', message: 'v1alpha1 cannot say a size of 101' },
  });
});

test('WH8 stopping answers what was asked before, and takes nothing new', async (t) => {
  const asked = deferred();
  const answered = deferred();
  const { post, close } = await served(t, {
    '/slow': async (sent) => {
      asked.resolve();
      await answered.promise;
      return sent;
    },
  });
  const reply = post('/slow', '{"a":1}');
  await asked.promise;
  const closed = close();
  await assert.rejects(post('/slow', '{}'), { code: 'ECONNREFUSED' });
  answered.resolve();
  assert.deepEqual(await reply, { status: 200, body: '{"a":1}' });
  await closed;
});

async function served(
  t: TestContext,
  handlers: Readonly<Record<string, ReviewHandler>>,
  observer: WebhookObserver = {},
) {
  const world = realWorld();
  const errors: string[] = [];
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: (line: string) => void errors.push(line) };
  const server = new WebhookServer({ clock: world.clock, log, handlers: new Map(Object.entries(handlers)), observer });
  const { authorities, serving } = renewedCertificates(undefined, {
    nowMs: world.clock.now(),
    names: ['localhost'],
    addresses: [],
    isNewestTrusted: true,
    authorityLifetimeMs: 3_600_000,
    certificateLifetimeMs: 3_600_000,
  });
  const port = await server.listen(serving, { host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  const ca = authorities.map(({ certificate }) => certificate);
  const post = async (path: string, body: string, method = 'POST') => {
    const reply = await new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, servername: 'localhost', path, method, ca, agent: false },
        (found) => {
          text(found).then((read) => resolve({ status: found.statusCode ?? 0, body: read }), reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
    return reply;
  };
  return { post, port, ca, errors, close: () => server.close() };
}

test('WH4 a handler that throws, hangs or is sent nonsense is a failure with words that say which and why', async (t) => {
  const { post, errors } = await served(t, {
    '/throws': () => {
      throw new Error('no such database');
    },
    '/hangs': () => new Promise(() => {}),
    '/asks': (sent) => validationReview(widgets, sent, never),
  });
  assert.deepEqual(await post('/throws?timeout=5s', '{}'), {
    status: 500,
    body: 'the webhook at /throws failed: no such database',
  });
  assert.deepEqual(await post('/hangs?timeout=1s', '{}'), {
    status: 500,
    body: 'the webhook at /hangs failed: waited 0.5 s for the webhook at /hangs to answer; it did not happen',
  });
  assert.deepEqual(await post('/asks', '{"kind":"AdmissionReview"}'), {
    status: 400,
    body: 'the review cannot be understood: it is no AdmissionReview with a request',
  });
  assert.equal((await post('/asks', 'nonsense')).status, 400);
  assert.deepEqual(await post('/nothing', '{}'), { status: 404, body: 'there is no webhook at /nothing' });
  assert.equal((await post('/asks', '', 'GET')).status, 405);
  assert.equal(errors.length, 4);
});

test('reviews are answered by HTTP/2 as well', async (t) => {
  const { port, ca } = await served(t, { '/echo': (sent) => sent });
  const session = connect(`https://localhost:${port}`, { ca });
  t.after(() => session.close());
  const stream = session.request({ ':method': 'POST', ':path': '/echo' });
  stream.end('{"a":9007199254740993}');
  assert.equal(await text(stream), '{"a":9007199254740993}');
});

test('WH9 reviews are counted by path and code under the names of controller-runtime, those being answered as well, and each is a span', async (t) => {
  const metrics = new Metrics();
  const spans: Record<string, unknown>[] = [];
  const tracer = spanObserver({
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
  });
  const lineOf = (series: string) => metrics.text().match(new RegExp(`^${series}.* (\\d+)$`, 'm'))?.[1];
  const requests = (code: string) =>
    lineOf(`controller_runtime_webhook_requests_total{webhook="/check",code="${code}"}`);
  const inFlight = () => lineOf('controller_runtime_webhook_requests_in_flight{webhook="/check"}');
  let whileAnswered: string | undefined;
  const check: ReviewHandler = (sent) => {
    whileAnswered = inFlight();
    if (isRecord(sent) && sent.isBad === true) throw new Error('no such database');
    return sent;
  };
  const { post, close } = await served(t, { '/check': check }, combineObservers(webhookMetrics(metrics), tracer));
  assert.deepEqual([requests('200'), requests('500'), inFlight()], ['0', '0', '0']);
  await post('/check', '{}');
  await post('/check', '{"isBad":true}');
  await post('/nothing', '{}');
  await close();
  assert.deepEqual([requests('200'), requests('500'), whileAnswered, inFlight()], ['1', '1', '1', '0']);
  assert.equal(lineOf('controller_runtime_webhook_latency_seconds_count{webhook="/check"}'), '2');
  assert.deepEqual(spans, [
    { name: 'review /check', 'castellan.webhook': '/check', 'http.response.status_code': 200 },
    {
      name: 'review /check',
      'castellan.webhook': '/check',
      'http.response.status_code': 500,
      status: '2 the webhook at /check failed: no such database',
    },
  ]);
});
