import { StatusError } from '@castellan/machinery';
import { isAdministrator } from '../authorization/authorizer.js';
import type { User } from '../server/http.js';
import type { RequestInfo } from './request-info.js';

type Class = 'read' | 'write' | 'stream';

/** How many requests may be under way at once, as kube-apiserver has it; the streams are watches, logs and the like. */
const limits: Readonly<Record<Class, number>> = { read: 400, write: 200, stream: 10_000 };
const streamSubresources: readonly string[] = ['attach', 'exec', 'log', 'portforward', 'proxy'];
const streamVerbs: readonly string[] = ['watch'];

export interface Leave {
  /** It goes on after its handler has returned. */
  readonly isStream: boolean;
  leave(): void;
}

/** Counts the requests that are under way, and refuses what would be too many: 429, try again in a second. */
export class InFlight {
  private readonly counts: Record<Class, number> = { read: 0, write: 0, stream: 0 };

  /** How many are under way. */
  present(): Readonly<Record<Class, number>> {
    return this.counts;
  }

  /** Lets a request in; `leave` takes it out again, however often it is called. */
  enter(user: User, verb: string, info: RequestInfo): Leave {
    const subresource = info.type === 'resource' ? info.subresource : '';
    const kind = classOf(verb, subresource);
    // Whoever is to repair an overloaded server must get through; streams cost memory, whoever opens them.
    const isExempt = kind !== 'stream' && isAdministrator(user);
    if (!isExempt && this.counts[kind] >= limits[kind]) {
      throw StatusError.of('TooManyRequests', 'too many requests, please try again later', { retryAfterSeconds: 1 });
    }
    this.counts[kind] += 1;
    let isIn = true;
    const leave = () => {
      if (isIn) this.counts[kind] -= 1;
      isIn = false;
    };
    return { isStream: kind === 'stream', leave };
  }
}

function classOf(verb: string, subresource: string): Class {
  if (streamVerbs.includes(verb) || streamSubresources.includes(subresource)) return 'stream';
  return verb === 'get' || verb === 'list' || verb === 'head' ? 'read' : 'write';
}
