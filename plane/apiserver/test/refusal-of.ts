import assert from 'node:assert/strict';
import type { ServerUnderTest } from './server-under-test.js';

/** What the refusal of a new object says, each of its causes as `FIELD: MESSAGE`. */
export async function refusalOf(api: ServerUnderTest, path: string, object: object): Promise<readonly string[]> {
  const reply = await api.send('POST', `${path}?dryRun=All`, object);
  assert.equal(reply.status, 422, reply.text);
  return reply.json.details.causes.map(
    ({ field, message }: { field: string; message: string }) => `${field}: ${message}`,
  );
}
