import type { World } from '@castellan/world';
import type { ApiRequest, ResponseWriter, User } from '../server/http.js';
import type { RequestInfo } from './request-info.js';

/** Gets one event of the audit log: a JSON document without line breaks. */
export type AuditSink = (line: string) => void;

type Stage = 'ResponseStarted' | 'ResponseComplete';

/**
 * What one request leaves in the audit log: who asked for what, and what came of it (audit.k8s.io/v1, level Metadata,
 * never a body). A stream is told of when it begins and when it ends.
 */
export class AuditEvent {
  private readonly sink: AuditSink;
  private readonly world: World;
  private readonly request: ApiRequest;
  private readonly auditId: string;
  private readonly receivedMs: number;
  private speaker: User | undefined;
  private user: User | undefined;
  private asked: { readonly verb: string; readonly info: RequestInfo } | undefined;
  private status = 0;
  private isComplete = false;
  private readonly annotations: Record<string, string> = {};

  constructor(sink: AuditSink, world: World, request: ApiRequest, auditId: string) {
    this.sink = sink;
    this.world = world;
    this.request = request;
    this.auditId = auditId;
    this.receivedMs = world.clock.now();
    request.onClose(() => this.complete());
  }

  /** What came to be known of the request; `user` is another than `speaker` where somebody is impersonated. */
  describe(asked: { readonly verb: string; readonly info: RequestInfo }, speaker?: User, user?: User): void {
    this.asked = asked;
    this.speaker = speaker;
    this.user = user;
  }

  /** The first value of a key stays. */
  annotate(key: string, value: string): void {
    this.annotations[key] ??= value;
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
    this.tell('ResponseComplete');
  }

  private tell(stage: Stage): void {
    const { request, asked, speaker, user } = this;
    const query = request.query.toString();
    this.sink(
      JSON.stringify({
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        level: 'Metadata',
        auditID: this.auditId,
        stage,
        requestURI: query === '' ? request.path : `${request.path}?${query}`,
        verb: asked?.verb ?? request.method.toLowerCase(),
        ...(speaker === undefined ? {} : { user: shown(speaker) }),
        ...(user === undefined || user === speaker ? {} : { impersonatedUser: shown(user) }),
        ...(request.headers['user-agent'] === undefined ? {} : { userAgent: request.headers['user-agent'] }),
        ...(asked?.info.type === 'resource' ? { objectRef: referenceTo(asked.info) } : {}),
        ...(this.status === 0 ? {} : { responseStatus: { metadata: {}, code: this.status } }),
        requestReceivedTimestamp: microTime(this.receivedMs),
        stageTimestamp: microTime(this.world.clock.now()),
        ...(Object.keys(this.annotations).length === 0 ? {} : { annotations: this.annotations }),
      }),
    );
  }
}

function shown({ name, uid, groups, extra }: User) {
  return { username: name, ...(uid === undefined ? {} : { uid }), groups, ...(extra === undefined ? {} : { extra }) };
}

function referenceTo(info: Extract<RequestInfo, { type: 'resource' }>) {
  return {
    resource: info.plural,
    ...(info.namespace === undefined ? {} : { namespace: info.namespace }),
    ...(info.name === undefined ? {} : { name: info.name }),
    ...(info.group === '' ? {} : { apiGroup: info.group }),
    apiVersion: info.version,
    ...(info.subresource === '' ? {} : { subresource: info.subresource }),
  };
}

/** metav1.MicroTime */
function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z');
}
