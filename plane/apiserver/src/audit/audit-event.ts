import { exactJson, parseExactJson } from '@castellan/machinery';
import type { World } from '@castellan/world';
import { attributesOf } from '../authorization/attributes.js';
import { isRecord, type JsonRecord, record, records, text, without } from '../json.js';
import type { RequestInfo } from '../request/request-info.js';
import type { ApiRequest, ResponseWriter, User } from '../server/http.js';
import { type AuditPolicy, type AuditScope, type AuditStage, auditLevels, auditScopeOf } from './audit-policy.js';
import { sourceAddresses } from './source-addresses.js';

/** Where audit events go, and which. */
export interface AuditLog {
  readonly policy: AuditPolicy;
  /** Gets one event: a JSON document without line breaks. */
  write(line: string): void;
}

/** The size of an event from which kube-apiserver leaves its objects out, where it is told to bound events at all. */
const longestEvent = 10 * 1024 * 1024;
const longestUserAgent = 1024;
const truncated = 'audit.k8s.io/truncated';
/** Stands for who speaks while that is not known. */
const nobody: User = { name: '', groups: [] };

interface Asked {
  readonly verb: string;
  readonly info: RequestInfo;
}

/**
 * What one request leaves in the audit log: who asked for what, and what came of it, as far as the policy wants to know
 * (audit.k8s.io/v1 Event). A stream is told of when it begins and when it ends.
 */
export class AuditEvent {
  private readonly log: AuditLog;
  private readonly world: World;
  private readonly request: ApiRequest;
  private readonly auditId: string;
  private readonly receivedMs: number;
  private speaker: User | undefined;
  private user: User | undefined;
  private asked: Asked | undefined;
  private scope: AuditScope | undefined;
  private requestObject: JsonRecord | readonly unknown[] | undefined;
  private responseObject: unknown;
  private responseChunks: Uint8Array[] = [];
  private responseBytes = 0;
  private responseStatus: JsonRecord = {};
  private status = 0;
  private isComplete = false;
  private readonly annotations: Record<string, string> = {};

  constructor(log: AuditLog, world: World, { request, auditId }: { request: ApiRequest; auditId: string }) {
    this.log = log;
    this.world = world;
    this.request = request;
    this.auditId = auditId;
    this.receivedMs = world.clock.now();
    request.onClose(() => this.complete());
  }

  /** What is asked for; known before who speaks. */
  describe(asked: Asked): void {
    this.asked = asked;
  }

  /** Who speaks decides how much is told; under which other name, if he is somebody else, is told. */
  received(speaker: User): void {
    this.speaker = speaker;
    this.tell('RequestReceived');
  }

  impersonating(user: User): void {
    this.user = user;
  }

  /** The first value of a key stays. */
  annotate(key: string, value: string): void {
    this.annotations[key] ??= value;
  }

  /** What the body of the request was read as: an object, or a patch. */
  heard(object: unknown): void {
    if (!isRecord(object) && !Array.isArray(object)) return;
    this.requestObject = object;
  }

  /** The object that the reply consists of. A refusal is told of at every level. */
  replied(object: unknown): void {
    if (this.tellsAtLeast('RequestResponse')) this.responseObject = object;
    const { kind, apiVersion, ...status } = record(object);
    if (kind === 'Status' && apiVersion === 'v1') this.responseStatus = status;
  }

  /** A piece of the reply's JSON, where it is made piece by piece. */
  repliedPart(bytes: Uint8Array): void {
    if (!this.tellsAtLeast('RequestResponse')) return;
    this.responseBytes += bytes.length;
    if (this.responseBytes <= longestEvent) this.responseChunks.push(bytes);
    else this.responseChunks = [];
  }

  /** The same writer, watched for the reply's status. */
  watching(writer: ResponseWriter): ResponseWriter {
    return {
      head: (status, headers) => {
        this.status = status;
        if (this.asked?.verb === 'watch' && status < 300) this.tell('ResponseStarted');
        writer.head(status, headers);
      },
      write: (chunk) => writer.write(chunk),
      end: (chunk) => {
        writer.end(chunk);
        this.complete();
      },
      onDrain: (callback) => writer.onDrain(callback),
      get isEnded() {
        return writer.isEnded;
      },
      ...(writer.switchProtocols === undefined ? {} : { switchProtocols: this.switching(writer.switchProtocols) }),
    };
  }

  private switching(switchProtocols: NonNullable<ResponseWriter['switchProtocols']>) {
    return (headers: Readonly<Record<string, string>>) => {
      this.status = 101;
      this.tell('ResponseStarted');
      return switchProtocols(headers);
    };
  }

  private complete(): void {
    if (this.isComplete) return;
    this.isComplete = true;
    if (this.responseBytes > longestEvent) this.annotate(truncated, 'true');
    else if (this.responseChunks.length > 0) {
      this.responseObject = parseExactJson(Buffer.concat(this.responseChunks).toString('utf8'));
    }
    this.tell('ResponseComplete');
  }

  private tell(stage: AuditStage): void {
    const { level, omittedStages } = this.decided();
    if (level === 'None' || omittedStages.has(stage)) return;
    const event = this.event(stage, level);
    const line = exactJson({ ...event, ...this.objects(level) });
    if (line.length > longestEvent) this.annotate(truncated, 'true');
    this.log.write(line.length > longestEvent ? exactJson(this.event(stage, level)) : line);
  }

  private decided(): AuditScope {
    const { asked, request, speaker = nobody } = this;
    const { verb = request.method.toLowerCase(), info = { type: 'path', path: request.path } as const } = asked ?? {};
    this.scope ??= auditScopeOf(this.log.policy, attributesOf(speaker, verb, info, request.query));
    return this.scope;
  }

  private tellsAtLeast(level: AuditScope['level']): boolean {
    return auditLevels.indexOf(this.decided().level) >= auditLevels.indexOf(level);
  }

  private event(stage: AuditStage, level: AuditScope['level']) {
    const { request, asked, speaker, user } = this;
    const query = request.query.toString();
    const userAgent = request.headers['user-agent'];
    const addresses = sourceAddresses(request);
    return {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level,
      auditID: this.auditId,
      stage,
      requestURI: query === '' ? request.path : `${request.path}?${query}`,
      verb: asked?.verb ?? request.method.toLowerCase(),
      ...(speaker === undefined ? {} : { user: shown(speaker) }),
      ...(user === undefined || user === speaker ? {} : { impersonatedUser: shown(user) }),
      ...(addresses.length === 0 ? {} : { sourceIPs: addresses }),
      ...(userAgent === undefined ? {} : { userAgent: shortened(userAgent) }),
      ...(asked?.info.type === 'resource' ? { objectRef: referenceTo(asked.info, this.requestObject) } : {}),
      ...(this.status === 0 ? {} : { responseStatus: { metadata: {}, ...this.responseStatus, code: this.status } }),
      requestReceivedTimestamp: microTime(this.receivedMs),
      stageTimestamp: microTime(this.world.clock.now()),
      ...(Object.keys(this.annotations).length === 0 ? {} : { annotations: this.annotations }),
    };
  }

  private objects(level: AuditScope['level']) {
    const { requestObject, responseObject } = this;
    const { omitsManagedFields } = this.decided();
    const whole = (object: unknown) => (omitsManagedFields ? withoutManagedFields(object) : object);
    const isTold = level === 'Request' || level === 'RequestResponse';
    return {
      ...(isTold && requestObject !== undefined ? { requestObject: whole(requestObject) } : {}),
      ...(responseObject === undefined ? {} : { responseObject: whole(responseObject) }),
    };
  }
}

function shown({ name, uid, groups, extra }: User) {
  return { username: name, ...(uid === undefined ? {} : { uid }), groups, ...(extra === undefined ? {} : { extra }) };
}

function shortened(userAgent: string): string {
  return userAgent.length > longestUserAgent ? `${userAgent.slice(0, longestUserAgent)}...TRUNCATED` : userAgent;
}

/** What the URL does not say, the object that was sent may. */
function referenceTo(info: Extract<RequestInfo, { type: 'resource' }>, sent: unknown) {
  const metadata = record(record(sent).metadata);
  const namespace = info.namespace ?? text(metadata.namespace);
  const name = info.name ?? text(metadata.name);
  const uid = text(metadata.uid);
  const resourceVersion = text(metadata.resourceVersion);
  return {
    resource: info.plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    ...(info.group === '' ? {} : { apiGroup: info.group }),
    apiVersion: info.version,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(info.subresource === '' ? {} : { subresource: info.subresource }),
  };
}

/** An object, a list or a Table without what its metadata says of managers of fields. */
function withoutManagedFields(object: unknown): unknown {
  if (!isRecord(object)) return object;
  const { metadata, items, rows } = object;
  return {
    ...object,
    ...(isRecord(metadata) ? { metadata: without(metadata, 'managedFields') } : {}),
    ...(Array.isArray(items) ? { items: items.map(withoutManagedFields) } : {}),
    ...(Array.isArray(rows)
      ? { rows: records(rows).map((row) => ({ ...row, object: withoutManagedFields(row.object) })) }
      : {}),
  };
}

/** metav1.MicroTime */
function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
