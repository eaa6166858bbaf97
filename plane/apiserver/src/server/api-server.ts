import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import { postReview } from '../admission/webhook-call.js';
import { openAuditFile } from '../audit/audit-file.js';
import { type AuditPolicy, metadataOfAll } from '../audit/audit-policy.js';
import { ServiceAccountTokens } from '../authentication/service-account-tokens.js';
import { noStaticTokens, type StaticTokens } from '../authentication/static-tokens.js';
import { Authorizer } from '../authorization/authorizer.js';
import { BootstrapRoles } from '../authorization/bootstrap.js';
import { NodeAccess } from '../authorization/node-access.js';
import { RoleBasedAccess, rbacGroup } from '../authorization/role-based.js';
import { DefinitionCleanup } from '../crd/cleanup.js';
import { customResourceDefinitionStrategy } from '../crd/crd-strategy.js';
import { CustomResources } from '../crd/custom-resources.js';
import { DefinitionEstablishment } from '../crd/establish.js';
import { type Encryption, noEncryption } from '../encryption/encryption.js';
import { Registry } from '../registry/registry.js';
import { handle } from '../request/handler.js';
import { InFlight } from '../request/in-flight.js';
import { RequestMetrics } from '../request/request-metrics.js';
import type { Server } from '../request/server.js';
import { EventLeases } from '../storage/event-leases.js';
import { configMapStrategy, secretStrategy } from '../strategies/immutable-data.js';
import { namespaceStrategy } from '../strategies/namespace.js';
import { NodePorts } from '../strategies/node-ports.js';
import { persistentVolumeClaimStrategy } from '../strategies/persistent-volume-claim.js';
import { podStrategy } from '../strategies/pod.js';
import { serviceStrategy } from '../strategies/service.js';
import { ServiceAddresses } from '../strategies/service-addresses.js';
import { ServiceAllocation } from '../strategies/service-allocation.js';
import type { UsageSource } from '../usage/usage-source.js';
import type { ServerAddress } from './advertised-endpoints.js';
import { createSystemObjects, ownTools, ownUser, ownWriter } from './bootstrap.js';
import { EndpointReconciler } from './endpoint-reconciler.js';
import type { ApiRequest, ResponseWriter } from './http.js';
import { IdentityLease } from './identity-lease.js';
import { type Listener, listen, type TlsMaterial } from './listener.js';
import type { NodeStreamsOf } from './node-streams.js';
import { repairServices } from './service-repair.js';

export interface ApiServerOptions {
  readonly keyspace: Keyspace;
  readonly world: World;
  /** Gets a line for every failure that is not the client's. */
  readonly log?: (line: string) => void;
  /** IPv4 range of the services' addresses; `10.96.0.0/16` by default. The first address is service default/kubernetes. */
  readonly serviceCidr?: string;
  /** How objects are sealed in the keyspace (`readEncryptionConfiguration`); absent: not at all. */
  readonly encryption?: Encryption;
  /** Without it requests that a node would answer are a 503. */
  readonly nodeStreams?: NodeStreamsOf;
  /** What nodes and pods use: absent, metrics.k8s.io is not served. */
  readonly usage?: UsageSource;
  /** Tokens that clients may show beside service accounts' (`readTokenFile`). */
  readonly staticTokens?: StaticTokens;
  /** Where the audit log is kept, an event a line. Absent: none is. */
  readonly auditLog?: string;
  /** What is told there (`readAuditPolicy`). Absent: who asked for what and what came of it, but no bodies. */
  readonly auditPolicy?: AuditPolicy;
  /**
   * Has the server keep a Lease `kube-system/apiserver-…`, by which others see that it is there. `name` tells it from all other
   * servers over this keyspace.
   */
  readonly identity?: { readonly name: string; readonly hostName: string };
  /** PEM of the private key that signs service accounts' tokens; without it they end with the server. */
  readonly serviceAccountKey?: string;
  /** The default roles and bindings are made a second after the start, or once a request depends on them; `asNeeded`: only then. */
  readonly defaultRoles?: 'soon' | 'asNeeded';
}

export interface ApiServer {
  /** Carries out one request without a transport. */
  handle(request: ApiRequest, writer: ResponseWriter): Promise<void>;
  /** Serves HTTPS. Fails with `PortInUseError`. */
  listen(options: {
    readonly host: string;
    readonly port: number;
    readonly tls: TlsMaterial;
  }): Promise<{ readonly url: string; readonly port: number }>;
  /**
   * Has the server name an address at which it is reached, in the Endpoints and the EndpointSlice of service default/kubernetes,
   * while it runs. To be called once.
   */
  advertise(address: ServerAddress): void;
  /** Ends watches and connections. The keyspace stays open: it is its opener's. */
  close(): Promise<void>;
}

const serviceAccountIssuer = 'https://kubernetes.default.svc.cluster.local';
const defaultServiceCidr = '10.96.0.0/16';
const resumeDelayMs = 1000;
/** Conversion webhooks answer within 30 s, as upstream; a review holds many objects. */
const conversionCall = { timeoutSeconds: 30, maxReplyBytes: 64 * 1024 * 1024, understood: (reply: unknown) => reply };

/**
 * A Kubernetes API server over a keyspace. Several may serve the same keyspace. What it needs of its own (system
 * namespaces, service default/kubernetes) is made before `createApiServer` resolves.
 *
 * @throws DecryptionError for objects that are stored encrypted, when `encryption` does not have their key
 */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { keyspace, world, log, nodeStreams, usage, encryption = noEncryption } = options;
  const addresses = new ServiceAddresses({ keyspace, world, cidr: options.serviceCidr ?? defaultServiceCidr });
  const ports = new NodePorts({ keyspace, world });
  const findService = (owner: string) => {
    const { store } = registry.builtin('', 'v1', 'services');
    return store.storage.get(store.layout.prefix + owner);
  };
  const allocation = new ServiceAllocation({ addresses, ports, findService });
  const strategies = {
    namespace: namespaceStrategy,
    pod: podStrategy,
    service: serviceStrategy(allocation),
    configMap: configMapStrategy,
    secret: secretStrategy,
    persistentVolumeClaim: persistentVolumeClaimStrategy,
    customResourceDefinition: customResourceDefinitionStrategy({
      onMarked: (name) => cleanup.begin(name),
      onWritten: (crd) => establishment.begin(crd),
    }),
  };
  const registry: Registry = new Registry({ keyspace, world, encryption, strategies });
  const crds = registry.builtin('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  const custom: CustomResources = new CustomResources({
    keyspace,
    world,
    encryption,
    crds,
    post: (config, review) => postReview({ registry }, config, review, conversionCall),
    settled: (name) => establishment.settled(name),
  });
  await registry.assertReadable();
  registry.serveCustom(custom);
  const context = { world, isDryRun: false, user: ownUser, writer: ownWriter };
  const leases = new EventLeases(keyspace, world);
  const tools = () => ({ namespaces: registry.builtin('', 'v1', 'namespaces'), leases, context });
  const establishment: DefinitionEstablishment = new DefinitionEstablishment({ crds, custom, tools, log });
  const cleanup: DefinitionCleanup = new DefinitionCleanup({ crds, custom, establishment, tools, log });
  const rbac = {
    roles: registry.builtin(rbacGroup, 'v1', 'roles'),
    roleBindings: registry.builtin(rbacGroup, 'v1', 'rolebindings'),
    clusterRoles: registry.builtin(rbacGroup, 'v1', 'clusterroles'),
    clusterRoleBindings: registry.builtin(rbacGroup, 'v1', 'clusterrolebindings'),
  };
  const bootstrapRoles = new BootstrapRoles(rbac, {
    namespaces: registry.builtin('', 'v1', 'namespaces'),
    leases,
    context,
  });
  const auditFile = options.auditLog === undefined ? undefined : openAuditFile(options.auditLog, log);
  let isReady = false;
  const server: Server = {
    keyspace,
    world,
    registry,
    leases,
    tokens: new ServiceAccountTokens({ registry, world, issuer: serviceAccountIssuer, key: options.serviceAccountKey }),
    staticTokens: options.staticTokens ?? noStaticTokens,
    authorizer: new Authorizer({
      nodes: new NodeAccess(registry),
      roles: new RoleBasedAccess(rbac),
      bootstrap: () => bootstrapRoles.ready(),
    }),
    bootstrapRoles,
    inFlight: new InFlight(),
    metrics: new RequestMetrics(),
    ...(auditFile === undefined
      ? {}
      : { audit: { policy: options.auditPolicy ?? metadataOfAll, write: (line: string) => auditFile.append(line) } }),
    isReady: () => isReady,
    ...(nodeStreams === undefined ? {} : { nodeStreams }),
    ...(usage === undefined ? {} : { usage }),
    ...(log === undefined ? {} : { log }),
  };
  await createSystemObjects(server, addresses);
  isReady = true;
  const identity = options.identity && identityLease(server, options.identity);
  // Reads every definition, of which there may be thousands: not while somebody waits for the start.
  const cancelResume = world.clock.after(resumeDelayMs, () => {
    cleanup.resume();
    const failed = (error: unknown) => log?.(`the default roles were not made: ${String(error)}`);
    const roles = options.defaultRoles === 'asNeeded' ? Promise.resolve() : bootstrapRoles.ready();
    roles.then(() => repairServices(registry, allocation)).catch(failed);
    identity?.start();
  });
  const listeners = new Set<Listener>();
  const endpoints = endpointReconciler(server);

  return {
    handle: (request, writer) => handle(server, request, writer),
    async listen(at) {
      const listener = await listen(at, (request, writer) => void handle(server, request, writer));
      listeners.add(listener);
      const host = at.host.includes(':') ? `[${at.host}]` : at.host;
      return { url: `https://${host}:${listener.port}`, port: listener.port };
    },
    advertise: (address) => endpoints.start(address),
    async close() {
      isReady = false;
      cancelResume();
      await Promise.all([identity?.stop(), endpoints.stop()]);
      registry.close();
      await Promise.all([...listeners].map((listener) => listener.close()));
      await auditFile?.close();
    },
  };
}

function identityLease(server: Server, { name, hostName }: { readonly name: string; readonly hostName: string }) {
  return new IdentityLease({
    leases: server.registry.builtin('coordination.k8s.io', 'v1', 'leases'),
    world: server.world,
    tools: ownTools(server),
    identity: name,
    hostName,
    onFailure: (error) => server.log?.(`the lease of this API server was not renewed: ${String(error)}`),
  });
}

function endpointReconciler(server: Server): EndpointReconciler {
  return new EndpointReconciler({
    keyspace: server.keyspace,
    endpoints: server.registry.builtin('', 'v1', 'endpoints'),
    endpointSlices: server.registry.builtin('discovery.k8s.io', 'v1', 'endpointslices'),
    world: server.world,
    tools: ownTools(server),
    onFailure: (error) =>
      server.log?.(`the endpoints of service default/kubernetes were not written: ${String(error)}`),
  });
}
