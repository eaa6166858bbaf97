import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import type { ApiRequest } from '../server/http.js';
import { withBodyDeadline } from './body-deadline.js';

function requestWith(body: ApiRequest['body']): ApiRequest {
  return { method: 'POST', path: '/', query: new URLSearchParams(), headers: {}, body, onClose: () => undefined };
}

test('a body that does not arrive within a minute is refused with a 408', async () => {
  const world = simulatedWorld(1);
  const never = new Promise<Buffer>(() => undefined);
  const refused = assert.rejects(
    withBodyDeadline(
      requestWith(() => never),
      world,
    ).body(10),
    {
      message: 'the body of the request did not arrive within 60 s',
      reason: 'Timeout',
    },
  );
  await world.advance(60_000);
  await refused;
  assert.equal(world.pendingTimers, 0);
});

test('a body that arrives leaves no timer behind', async () => {
  const world = simulatedWorld(1);
  const body = await withBodyDeadline(
    requestWith(async () => Buffer.from('{}')),
    world,
  ).body(10);
  assert.equal(Buffer.from(body).toString(), '{}');
  await world.advance(0);
  assert.equal(world.pendingTimers, 0);
});
