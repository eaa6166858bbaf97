import type { Keyspace } from '@castellan/keyspace';
import { StatusError } from '@castellan/machinery';
import type { World } from '@castellan/world';
import { authenticate } from '../authentication/authenticate.js';
import { impersonate } from '../authentication/impersonate.js';
import type { ServiceAccountTokens } from '../authentication/service-account-tokens.js';
import { attributesOf } from '../authorization/attributes.js';
import type { Authorizer } from '../authorization/authorizer.js';
import type { BootstrapRoles } from '../authorization/bootstrap.js';
import type { Registry } from '../registry/registry.js';
import type { ApiRequest, ResponseWriter, User } from '../server/http.js';
import type { NodeStreams } from '../server/node-streams.js';
import type { EventLeases } from '../storage/event-leases.js';
import { AuditEvent, type AuditSink } from './audit.js';
import { verbOf } from './authorize.js';
import { withBodyDeadline } from './body-deadline.js';
import type { InFlight, Leave } from './in-flight.js';
import { withoutLegacyWatch } from './legacy-watch.js';
import { plainJson } from './negotiation.js';
import { servePath } from './paths.js';
import { Reply, statusOf } from './reply.js';
import { onReplyEnd } from './reply-end.js';
import { parseRequestInfo, type RequestInfo } from './request-info.js';
import { serveResource } from './resource-handler.js';
import { storageFailure } from './storage-failure.js';

/** What the request chain works with. */
export interface Server {
  readonly keyspace: Keyspace;
  readonly world: World;
  readonly registry: Registry;
  readonly leases: EventLeases;
  readonly tokens: ServiceAccountTokens;
  readonly authorizer: Authorizer;
  readonly bootstrapRoles: BootstrapRoles;
  readonly inFlight: InFlight;
  /** Gets every request's audit events. */
  readonly audit?: AuditSink;
  readonly nodeStreams?: NodeStreams;
  /** Whether the server's own objects are there: what /readyz says. */
  isReady(): boolean;
  log?(line: string): void;
}

/** One request on its way through the chain. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: User;
  readonly reply: Reply;
}

/** authenticate → impersonate → limit → authorise → route. Every failure becomes a Status; nothing is thrown. */
export async function handle(server: Server, received: ApiRequest, writer: ResponseWriter): Promise<void> {
  const auditId = server.world.random.uuid();
  const audit = server.audit === undefined ? undefined : new AuditEvent(server.audit, server.world, received, auditId);
  let inFlight: Leave | undefined;
  const counted = onReplyEnd(received, audit?.watching(writer) ?? writer, () => inFlight?.leave());
  const reply = new Reply(counted, auditId, received.headers['accept-encoding']);
  let request = received;
  try {
    request = withBodyDeadline(withoutLegacyWatch(received), server.world);
    const info = parseRequestInfo(request.path);
    const verb = verbOf(request, info);
    audit?.describe({ verb, info });
    const speaker = await authenticate(request, server.tokens);
    audit?.describe({ verb, info }, speaker);
    const user = await impersonate(server.authorizer, speaker, request, { info, verb });
    audit?.describe({ verb, info }, speaker, user);
    inFlight = server.inFlight.enter(user, verb, info);
    await server.authorizer.assert(attributesOf(user, verb, info, request.query));
    const exchange = { request, info, user, reply };
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
