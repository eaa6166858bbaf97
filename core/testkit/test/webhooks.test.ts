import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import {
  customResourceDefinitions,
  defineKind,
  fieldError,
  isConditionTrue,
  isStatusError,
  type Kind,
  keyOf,
  mutatingWebhookConfigurations,
  type ReadOf,
  s,
  secrets,
  validatingWebhookConfigurations,
} from '@castellan/machinery';
import { createWebhooks, type OwnCertificates, type Webhook, webhook } from '@castellan/runtime';
import { type BootedPlane, bootPlane, eventually } from '@castellan/testkit';
import { realWorld, simulatedWorld, type World } from '@castellan/world';

const secret = { namespace: 'default', name: 'webhook-certificates' };

const Widget = defineKind({
  group: 'hooks.castellan.dev',
  version: 'v1',
  kind: 'Widget',
  spec: s.object({ size: s.integer().min(1), colour: s.string().optional(), note: s.string().default('none') }),
}).withVersion('v1alpha1', {
  spec: s.object({ count: s.integer().default(1) }),
  toHub: ({ spec, metadata }) => ({
    spec: { size: spec.count, colour: metadata.annotations?.colour ?? 'grey' },
  }),
  fromHub: ({ spec, metadata }) => ({
    spec: { count: spec.size },
    metadata: { annotations: { ...metadata.annotations, colour: spec.colour ?? 'grey' } },
  }),
});
type Widget = ReadOf<typeof Widget>;

const make = (name: string, spec: Parameters<typeof Widget.make>[1]) =>
  Widget.make({ name, namespace: 'default' }, spec);

async function install(plane: BootedPlane, kind: Kind): Promise<void> {
  await plane.client.create(customResourceDefinitions, kind.crd);
  await eventually(
    'the definition is established',
    async () => {
      const crd = await plane.client.get(customResourceDefinitions, keyOf(kind.crd));
      return isConditionTrue(crd.status?.conditions, 'Established');
    },
    { deadlineMs: 10_000 },
  );
}

/** Webhooks that run until the test ends. */
async function running(
  t: TestContext,
  plane: BootedPlane,
  options: {
    readonly webhooks?: readonly Webhook[];
    readonly kinds?: readonly Kind[];
    readonly own?: Partial<OwnCertificates>;
    readonly world?: World;
  },
) {
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const hooks = createWebhooks({
    client: plane.client,
    world: options.world ?? realWorld(),
    log: { debug: note, info: note, warn: note, error: note },
    name: 'widget-operator',
    endpoint: { host: '127.0.0.1' },
    port: 0,
    certificates: { secret, ...options.own },
    ...(options.webhooks === undefined ? {} : { webhooks: options.webhooks }),
    ...(options.kinds === undefined ? {} : { kinds: options.kinds }),
  });
  const stopping = new AbortController();
  const run = hooks.run(stopping.signal);
  const stop = async () => {
    stopping.abort(new Error('the test has ended'));
    await run;
  };
  t.after(stop);
  return { hooks, lines, stop };
}

async function booted(t: TestContext): Promise<BootedPlane> {
  const plane = await bootPlane({ controllers: false });
  t.after(() => plane.stop());
  await install(plane, Widget);
  return plane;
}

/** Writes until the API server has heard of what it is to ask. */
async function refused(attempt: () => Promise<unknown>, isExpected: (message: string) => boolean): Promise<string> {
  return await eventually(
    'a refusal',
    async () => {
      try {
        await attempt();
        return false;
      } catch (error) {
        if (!isStatusError(error)) throw error;
        return isExpected(error.message) && error.message;
      }
    },
    { deadlineMs: 10_000 },
  );
}

test('a validating webhook refuses with the fields and their errors, and what it lets pass is as a mutating one made it', async (t) => {
  const plane = await booted(t);
  const { client } = plane;
  const { hooks } = await running(t, plane, {
    webhooks: [
      webhook(Widget, {
        validate: ({ spec }, { old }) =>
          old !== undefined && spec.size < old.spec.size
            ? {
                errors: [
                  fieldError.invalid('spec.size', spec.size, `may not be less than before (${old.spec.size})`),
                  fieldError.required('spec.colour', 'of what shrinks'),
                ],
              }
            : undefined,
        mutate: (object) => ({ ...object, spec: { ...object.spec, colour: object.spec.colour ?? 'red' } }),
      }),
    ],
  });
  await hooks.ready();
  let tries = 0;
  const made = await eventually(
    'a widget that was mutated',
    async () => {
      tries += 1;
      const created = await client.create(Widget, make(`made-${tries}`, { size: 3 }));
      return created.spec.colour === 'red' && created;
    },
    { deadlineMs: 10_000 },
  );
  assert.deepEqual(made.spec, { size: 3, colour: 'red', note: 'none' });
  const shrink = () => client.update(Widget, { ...made, spec: { ...made.spec, size: 2 } });
  const name = made.metadata.name ?? '';
  await assert.rejects(shrink, (error) => {
    assert.ok(isStatusError(error, 'Invalid'));
    assert.equal(
      error.message,
      `admission webhook "validate.v1.widgets.hooks.castellan.dev" denied the request: Widget.hooks.castellan.dev "${name}" is invalid: [spec.size: Invalid value: 2: may not be less than before (3), spec.colour: Required value: of what shrinks]`,
    );
    assert.deepEqual(
      error.status.details?.causes?.map(({ field }) => field),
      ['spec.size', 'spec.colour'],
    );
    return true;
  });
  await client.update(Widget, { ...made, spec: { ...made.spec, size: 4 } });
});

test('objects of two versions are one object, converted by the functions of the kind; a definition that is applied again is still converted', async (t) => {
  const plane = await booted(t);
  const { client } = plane;
  const { hooks } = await running(t, plane, { kinds: [Widget] });
  await hooks.ready();
  const old = Widget.versions.v1alpha1;
  const metadata = { name: 'old', namespace: 'default', annotations: { colour: 'blue' } };
  await eventually(
    'an object of the older version to be taken',
    () =>
      client.create(old, { apiVersion: 'hooks.castellan.dev/v1alpha1', kind: 'Widget', metadata, spec: { count: 5 } }),
    { deadlineMs: 10_000 },
  );
  const stored: Widget = await client.get(Widget, { namespace: 'default', name: 'old' });
  assert.deepEqual(stored.spec, { size: 5, colour: 'blue', note: 'none' });
  assert.deepEqual((await client.get(old, { namespace: 'default', name: 'old' })).spec, { count: 5 });
  await client.create(Widget, make('new', { size: 7, colour: 'green' }));
  const listed = await client.list(old, { namespace: 'default' });
  assert.deepEqual(
    listed.items.map((each) => [each.metadata.name, each.spec.count, each.metadata.annotations?.colour]),
    [
      ['new', 7, 'green'],
      ['old', 5, 'blue'],
    ],
  );
  const body = { ...Widget.crd, apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  const applied = await client.patch(customResourceDefinitions, keyOf(Widget.crd), {
    type: 'apply',
    body,
    fieldManager: 'installer',
    force: true,
  });
  assert.equal(applied.spec.conversion?.strategy, 'Webhook');
});

test('a definition that is not there yet is made with its conversion', async (t) => {
  const plane = await bootPlane({ controllers: false });
  t.after(() => plane.stop());
  const { hooks } = await running(t, plane, { kinds: [Widget] });
  await hooks.ready();
  const { spec, metadata } = await plane.client.get(customResourceDefinitions, keyOf(Widget.crd));
  assert.equal(spec.conversion?.strategy, 'Webhook');
  assert.deepEqual(spec.versions, Widget.crd.spec.versions);
  assert.equal(metadata.generation, 1);
});

test('while the authority and the certificate are changed again and again, every request is answered', async (t) => {
  const plane = await booted(t);
  const { client } = plane;
  const { hooks } = await running(t, plane, {
    webhooks: [webhook(Widget, { validate: () => ({ refusal: 'never' }), validates: ['DELETE'] })],
    own: { authorityLifetimeMs: 6_000, certificateLifetimeMs: 3_000, overlapMs: 500, everyMs: 50 },
  });
  await hooks.ready();
  await client.create(Widget, make('kept', { size: 1 }));
  const remove = () => client.delete(Widget, { namespace: 'default', name: 'kept' });
  const denial = 'admission webhook "validate.v1.widgets.hooks.castellan.dev" denied the request: never';
  await refused(remove, (message) => message === denial);
  let failure: string | undefined;
  const served = new Set<string>();
  const signers = new Set<string>();
  await eventually(
    'three certificates of two authorities to have been served',
    async () => {
      const { data = {} } = await client.get(secrets, secret);
      const pem = (part: string) => Buffer.from(data[part] ?? '', 'base64').toString();
      const serving = new X509Certificate(pem('tls.crt'));
      const authorities = pem('ca.crt').split(/(?<=-----END CERTIFICATE-----\n)/);
      const signer = authorities
        .map((each) => new X509Certificate(each))
        .find((each) => serving.verify(each.publicKey));
      served.add(serving.fingerprint256);
      signers.add(signer?.fingerprint256 ?? 'none');
      // Not within the wait, which would try again: the first request that fails is the failure.
      failure ??= await remove().then(
        () => 'the delete was let pass',
        (error: Error) => (error.message === denial ? undefined : error.message),
      );
      return failure !== undefined || (served.size >= 3 && signers.size >= 2);
    },
    { deadlineMs: 60_000, everyMs: 10 },
  );
  assert.equal(failure, undefined);
  assert.equal(signers.has('none'), false);
});

test('a webhook that throws or hangs fails the request with its reason, or is passed over where its policy says so', async (t) => {
  const plane = await booted(t);
  const { client } = plane;
  // Certificates are of this day, and the time that a webhook may take passes when the test says so.
  const simulated = simulatedWorld(1);
  let isHanging = false;
  const { hooks, lines } = await running(t, plane, {
    world: { ...simulated, clock: { ...simulated.clock, now: realWorld().clock.now } },
    webhooks: [
      webhook(Widget, {
        validate: async ({ spec }) => {
          if (spec.note === 'throw') throw new Error('no such database');
          if (spec.note === 'hang') {
            isHanging = true;
            await new Promise(() => {});
          }
          return { refusal: 'heard' };
        },
        timeoutSeconds: 30,
      }),
    ],
  });
  await hooks.ready();
  const create = (note: string) => client.create(Widget, make('a', { size: 1, note }));
  const name = '"validate.v1.widgets.hooks.castellan.dev"';
  const path = '/validate/widgets.hooks.castellan.dev/v1';
  await refused(
    () => client.create(Widget, make('b', { size: 1 }), { dryRun: true }),
    (message) => message === `admission webhook ${name} denied the request: heard`,
  );
  await assert.rejects(create('throw'), {
    message: `Internal error occurred: failed calling webhook ${name}: failed to call webhook: an error on the server ("the webhook at ${path} failed: no such database") has prevented the request from succeeding`,
  });
  const hung = create('hang');
  hung.catch(() => undefined);
  await eventually('the webhook to be asked', async () => isHanging, { deadlineMs: 10_000 });
  await simulated.advance(29_000);
  await assert.rejects(hung, {
    message: `Internal error occurred: failed calling webhook ${name}: failed to call webhook: an error on the server ("the webhook at ${path} failed: waited 29 s for the webhook at ${path} to answer; it did not happen") has prevented the request from succeeding`,
  });
  assert.ok(lines.includes(`the webhook at ${path} failed: no such database`));
});

test('a webhook whose policy is to be passed over does not stand in the way when it fails', async (t) => {
  const plane = await booted(t);
  let isAsked = false;
  const { hooks } = await running(t, plane, {
    webhooks: [
      webhook(Widget, {
        validate: () => {
          isAsked = true;
          throw new Error('no such database');
        },
        failurePolicy: 'Ignore',
      }),
    ],
  });
  await hooks.ready();
  let made = 0;
  await eventually(
    'the webhook to be asked',
    async () => {
      made += 1;
      await plane.client.create(Widget, make(`a-${made}`, { size: 1 }));
      return isAsked;
    },
    { deadlineMs: 10_000 },
  );
});

test('a Secret that is removed or spoilt is written anew with the certificates in use', async (t) => {
  const plane = await booted(t);
  const { client } = plane;
  const { hooks } = await running(t, plane, { own: { everyMs: 50 } });
  await hooks.ready();
  const { data } = await client.get(secrets, secret);
  const isRestored = async () => isDeepStrictEqual((await client.find(secrets, secret))?.data, data);
  await client.patch(secrets, secret, { type: 'merge', body: { data: { 'tls.key': '' } } });
  await eventually('the Secret to be as it was', isRestored, { deadlineMs: 10_000 });
  await client.delete(secrets, secret);
  await eventually('the Secret to be there again', isRestored, { deadlineMs: 10_000 });
});

test('what an earlier version of the program was asked of is given up', async (t) => {
  const plane = await booted(t);
  const named = { name: 'widget-operator' };
  const earlier = await running(t, plane, { webhooks: [webhook(Widget, { validate: () => undefined })] });
  await earlier.hooks.ready();
  assert.equal((await plane.client.get(validatingWebhookConfigurations, named)).webhooks?.length, 1);
  await earlier.stop();
  const later = await running(t, plane, { webhooks: [webhook(Widget, { mutate: (object) => object })] });
  await later.hooks.ready();
  assert.equal((await plane.client.get(validatingWebhookConfigurations, named)).webhooks?.length ?? 0, 0);
  assert.equal((await plane.client.get(mutatingWebhookConfigurations, named)).webhooks?.length, 1);
});

test('of two processes the leader writes, and the other serves with the same certificate', async (t) => {
  const plane = await booted(t);
  const follower = await running(t, plane, { own: { isLeader: () => false } });
  const leader = await running(t, plane, {});
  await leader.hooks.ready();
  await follower.hooks.ready();
  assert.equal(
    follower.lines.some((line) => line.includes('certificates renewed')),
    false,
  );
  assert.equal(leader.lines.filter((line) => line.includes('certificates renewed')).length, 1);
});
