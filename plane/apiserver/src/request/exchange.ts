import type { Resource } from '../registry/resource.js';
import type { WriteTools } from '../registry/write.js';
import type { ApiRequest, User } from '../server/http.js';
import type { RenderOptions } from './render-options.js';
import type { Reply } from './reply.js';
import type { RequestInfo } from './request-info.js';

/** One request on its way through the chain. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: User;
  readonly reply: Reply;
  /** Adds to what the audit log tells of the request. */
  readonly annotate: (key: string, value: string) => void;
}

export type ResourceInfo = Extract<RequestInfo, { type: 'resource' }>;

/** A request for a resource that is known. */
export interface KnownExchange extends Exchange {
  readonly info: ResourceInfo;
  readonly resource: Resource;
}

/** What the verbs need besides. */
export interface ResourceExchange extends KnownExchange {
  readonly tools: WriteTools;
  readonly render: RenderOptions;
}
