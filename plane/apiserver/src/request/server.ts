import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import type { AuditLog } from '../audit/audit-event.js';
import type { ServiceAccountTokens } from '../authentication/service-account-tokens.js';
import type { StaticTokens } from '../authentication/static-tokens.js';
import type { Authorizer } from '../authorization/authorizer.js';
import type { BootstrapRoles } from '../authorization/bootstrap.js';
import type { Registry } from '../registry/registry.js';
import type { NodeStreamsOf } from '../server/node-streams.js';
import type { EventLeases } from '../storage/event-leases.js';
import type { UsageSource } from '../usage/usage-source.js';
import type { InFlight } from './in-flight.js';
import type { RequestMetrics } from './request-metrics.js';

/** What the request chain works with. */
export interface Server {
  readonly keyspace: Keyspace;
  readonly world: World;
  readonly registry: Registry;
  readonly leases: EventLeases;
  readonly tokens: ServiceAccountTokens;
  readonly staticTokens: StaticTokens;
  readonly authorizer: Authorizer;
  readonly bootstrapRoles: BootstrapRoles;
  readonly inFlight: InFlight;
  readonly metrics: RequestMetrics;
  /** Gets every request's audit events. */
  readonly audit?: AuditLog;
  readonly nodeStreams?: NodeStreamsOf;
  readonly usage?: UsageSource;
  /** Whether the server's own objects are there: what /readyz says. */
  isReady(): boolean;
  log?(line: string): void;
}
