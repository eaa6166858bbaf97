import { attributesOf } from '../authorization/attributes.js';
import { assertNoEscalation } from '../authorization/escalation.js';
import type { Admission } from '../registry/admission-control.js';
import type { Exchange, Server } from '../request/handler.js';

/** Admission of one request's writes: what is added to them, and what keeps them out. */
export function admissionFor(server: Server, { user, info }: Exchange): Admission {
  return {
    async mutate(write) {
      await assertNoEscalation(server.authorizer, user, write);
      return write.object;
    },
    async validate() {},
    assertMayCreate: () => server.authorizer.assert(attributesOf(user, 'create', info)),
  };
}
