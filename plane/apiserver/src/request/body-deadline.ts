import { StatusError } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { ApiRequest } from '../server/http.js';

/** As long as kube-apiserver gives a request that is no stream. */
const bodyDeadlineMs = 60_000;

/** The request with a deadline for its body: a client that sends it byte by byte is refused with a 408. */
export function withBodyDeadline(request: ApiRequest, world: World, deadlineMs = bodyDeadlineMs): ApiRequest {
  return {
    ...request,
    body: (limitBytes) =>
      new Promise((resolve, reject) => {
        const cancel = world.clock.after(deadlineMs, () => reject(tooSlow(deadlineMs)));
        request.body(limitBytes).then(resolve, reject).finally(cancel);
      }),
  };
}

function tooSlow(deadlineMs: number): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `the body of the request did not arrive within ${deadlineMs / 1000} s`,
    reason: 'Timeout',
    code: 408,
  });
}
