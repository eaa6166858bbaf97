import { builtInTypes, trackUpdate } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import { timestamp } from '../registry/strategy.js';
import type { Server } from '../request/server.js';
import type { ApiRequest } from '../server/http.js';

/** The managed fields that a review shows of whom it was sent by, as a stored object would. */
export function writtenBy(server: Server, request: ApiRequest, sent: ApiObject, subresource = '') {
  const { metadata } = trackUpdate(
    { spec: {} },
    { ...sent, metadata: {} },
    {
      manager: managerOf(request),
      ...(subresource === '' ? {} : { subresource }),
      now: timestamp(server.world),
      types: builtInTypes,
    },
  );
  return typeof metadata === 'object' && metadata !== null ? metadata : {};
}

/** The name in `fieldManager`, else the program that the User-Agent names. */
function managerOf({ query, headers }: ApiRequest): string {
  const named = query.get('fieldManager') ?? '';
  if (named !== '') return named;
  const [program = ''] = (headers['user-agent'] ?? '').split('/');
  return program === '' ? 'unknown' : program;
}
