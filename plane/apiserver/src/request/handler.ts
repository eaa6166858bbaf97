import { StatusError } from '@castellan/machinery';
import { AuditEvent } from '../audit/audit-event.js';
import { authenticate } from '../authentication/authenticate.js';
import { impersonate } from '../authentication/impersonate.js';
import { type Attributes, attributesOf } from '../authorization/attributes.js';
import { forbiddenTo } from '../authorization/authorizer.js';
import type { ApiRequest, ResponseWriter } from '../server/http.js';
import { isWebSocket } from '../streaming/web-socket-handshake.js';
import { webSocketWriter } from '../streaming/web-socket-writer.js';
import { isTrue, verbOf } from './authorize.js';
import { withBodyDeadline } from './body-deadline.js';
import type { Leave } from './in-flight.js';
import { withoutLegacyWatch } from './legacy-watch.js';
import { plainJson } from './negotiation.js';
import { servePath } from './paths.js';
import { Reply, statusOf } from './reply.js';
import { onReplyEnd } from './reply-end.js';
import { parseRequestInfo, type RequestInfo } from './request-info.js';
import { serveResource } from './resource-handler.js';
import type { Server } from './server.js';
import { storageFailure } from './storage-failure.js';

/** authenticate → impersonate → limit → authorise → route. Every failure becomes a Status; nothing is thrown. */
export async function handle(server: Server, received: ApiRequest, writer: ResponseWriter): Promise<void> {
  const auditId = server.world.random.uuid();
  const audit = server.audit && new AuditEvent(server.audit, server.world, { request: received, auditId });
  let inFlight: Leave | undefined;
  let asked: { readonly verb: string; readonly info: RequestInfo } | undefined;
  const beginMs = server.world.clock.monotonicNow();
  const ended = (status: number) => {
    inFlight?.leave();
    if (asked === undefined) return;
    const isStream = inFlight?.isStream === true;
    server.metrics.count(asked, status, isStream ? undefined : (server.world.clock.monotonicNow() - beginMs) / 1000);
    asked = undefined;
  };
  const counted = onReplyEnd(received, audit?.watching(writer) ?? writer, ended);
  const isSocketWatch = isWebSocket(received) && isTrue(received.query.get('watch'));
  const outlet = isSocketWatch ? webSocketWriter(counted, received, server.world) : counted;
  const acceptedEncodings = received.headers['accept-encoding'];
  const reply = new Reply(outlet, { auditId, acceptedEncodings, listener: audit });
  let request = received;
  try {
    request = withBodyDeadline(withoutLegacyWatch(received), server.world);
    if (audit !== undefined) request = { ...request, heard: (object) => audit.heard(object) };
    const info = parseRequestInfo(request.path);
    const verb = verbOf(request, info);
    asked = { verb, info };
    audit?.describe({ verb, info });
    const speaker = await authenticate(request, server);
    audit?.received(speaker);
    const user = await impersonate(server.authorizer, speaker, request, { info, verb });
    audit?.impersonating(user);
    inFlight = server.inFlight.enter(user, verb, info);
    const annotate = (key: string, value: string) => audit?.annotate(key, value);
    await authorize(server, attributesOf(user, verb, info, request.query), annotate);
    const exchange = { request, info, user, reply, annotate };
    await (info.type === 'path' ? servePath(server, exchange, info.path) : serveResource(server, exchange, info));
  } catch (error) {
    const status = statusOf(error);
    if (storageFailure(error) !== undefined)
      server.log?.(`${request.method} ${request.path} failed: ${status.message}`);
    else if (!(error instanceof StatusError)) {
      server.log?.(
        `${request.method} ${request.path} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    }
    await reply.failure(status, plainJson);
  } finally {
    if (inFlight?.isStream === false) inFlight.leave();
  }
}

/** Lets pass or fails with a 403, and has the audit log say why. */
async function authorize(
  { authorizer }: Server,
  attributes: Attributes,
  annotate: (key: string, value: string) => void,
): Promise<void> {
  const { isAllowed, reason } = await authorizer.decide(attributes);
  annotate('authorization.k8s.io/decision', isAllowed ? 'allow' : 'forbid');
  annotate('authorization.k8s.io/reason', reason);
  if (!isAllowed) throw forbiddenTo(attributes, reason);
}
