/**
 * How a reflector follows one collection of a server, as a pure function: what it is doing, what happened, what to do next.
 * Source: client-go's tools/cache reflector and KEP-3157 (watch-list). SPEC.md numbers what holds.
 */
export interface ReflectorState {
  readonly doing: ReflectorActivity;
  /** Rest this long before doing it; more than 0 only after a failure. */
  readonly restMs: number;
  readonly usesWatchList: boolean;
  /** Failures since the last healthy spell, and when the first and the last of them were. */
  readonly failures: number;
  readonly firstFailureMs: number;
  readonly lastFailureMs: number;
  /** Since when the server has answered that it does not know the kind. */
  readonly missingSinceMs?: number;
}

export type ReflectorActivity =
  /** Ask for a page of the collection. */
  | {
      readonly kind: 'listing';
      /** '0': anything the server has at hand; '': the newest, read from storage; else not older than that. */
      readonly revision: string;
      readonly continueToken?: string;
      /** Everything in one page, because a list in pages outlived its revision. */
      readonly isWhole?: boolean;
    }
  /** Open a watch that begins with the whole collection, which is complete at an annotated bookmark. */
  | { readonly kind: 'streaming' }
  /** Read on, or open a watch from `revision`. */
  | { readonly kind: 'watching'; readonly revision: string };

/** Why a request failed, as far as it matters here. */
export type ReflectorFailure = 'expired' | 'notServed' | 'tooLarge' | 'notSupported' | 'unavailable' | 'other';

export type Happening =
  | { readonly kind: 'page'; readonly revision: string; readonly continueToken?: string }
  /** The stream brought the whole collection. */
  | { readonly kind: 'complete'; readonly revision: string }
  /** An event or a bookmark of a watch. */
  | { readonly kind: 'progress'; readonly revision: string }
  | { readonly kind: 'ended'; readonly lastedMs: number; readonly hadEvents: boolean }
  | { readonly kind: 'failed'; readonly failure: ReflectorFailure };

/** The time on the monotonic clock, and a random number in [0, 1). */
export interface Moment {
  readonly nowMs: number;
  readonly chance: number;
}

const firstRestMs = 800;
const longestRestMs = 30_000;
/** After this long without a failure the next one is the first again. */
const healthyMs = 120_000;
const relistAfterFailingMs = 120_000;
/** A kind that is missing is looked for this often, so that its controllers start soon after it appears. */
const longestRestForKindMs = 5_000;
/** A server that starts may not know its custom kinds yet; one that says so for longer has lost the kind. */
const kindIsGoneMs = 10_000;
/** A watch that ends sooner than this and brought nothing counts as failed, so that it is not repeated in a tight loop. */
const shortestWatchMs = 1_000;

/** `since`: what is held already, so that what is read first is not older than that; '0' when nothing is. */
export function firstState(usesWatchList: boolean, since: string): ReflectorState {
  return {
    doing: readAll(usesWatchList, since),
    restMs: 0,
    usesWatchList,
    failures: 0,
    firstFailureMs: 0,
    lastFailureMs: Number.NEGATIVE_INFINITY,
  };
}

export function nextState(before: ReflectorState, happening: Happening, moment: Moment): ReflectorState {
  const { missingSinceMs: _, ...known } = before;
  // Whatever came of a request but a 404: the kind is there.
  const state = happening.kind === 'failed' ? before : known;
  const { doing } = state;
  switch (happening.kind) {
    case 'page': {
      const { revision, continueToken } = happening;
      if (doing.kind !== 'listing') return state;
      if (continueToken === undefined) return go(state, { kind: 'watching', revision });
      return go(state, { kind: 'listing', revision: doing.revision, continueToken });
    }
    case 'complete':
      return doing.kind === 'streaming' ? go(state, { kind: 'watching', revision: happening.revision }) : state;
    case 'progress':
      return doing.kind === 'watching' ? go(state, { kind: 'watching', revision: happening.revision }) : state;
    case 'ended':
      if (doing.kind === 'watching' && (happening.hadEvents || happening.lastedMs >= shortestWatchMs)) {
        return go(state, doing);
      }
      return rest(state, doing, moment);
    case 'failed':
      return afterFailure(state, happening.failure, moment);
    default:
      return happening satisfies never;
  }
}

/** The kind has been missing for so long that what was known of it is not there any more. */
export function isKindGone(state: ReflectorState, nowMs: number): boolean {
  return state.missingSinceMs !== undefined && nowMs - state.missingSinceMs >= kindIsGoneMs;
}

function afterFailure(state: ReflectorState, failure: ReflectorFailure, moment: Moment): ReflectorState {
  const { doing } = state;
  if (failure === 'notServed') {
    const since = doing.kind === 'streaming' || doing.revision === '' ? '0' : doing.revision;
    const rested = rest(state, readAll(state.usesWatchList, since), moment);
    const missingSinceMs = state.missingSinceMs ?? moment.nowMs;
    return { ...rested, restMs: Math.min(rested.restMs, longestRestForKindMs * (1 + moment.chance)), missingSinceMs };
  }
  switch (doing.kind) {
    case 'listing':
      if (failure === 'expired' && doing.continueToken !== undefined) {
        return go(state, { kind: 'listing', revision: '', isWhole: true });
      }
      if (failure === 'expired' && doing.revision !== '') return go(state, { kind: 'listing', revision: '' });
      if (failure === 'tooLarge') return rest(state, { kind: 'listing', revision: '' }, moment);
      return rest(state, doing, moment);
    case 'streaming':
      if (failure !== 'notSupported') return rest(state, doing, moment);
      return { ...go(state, { kind: 'listing', revision: '0' }), usesWatchList: false };
    case 'watching': {
      const relist = readAll(state.usesWatchList, doing.revision);
      if (failure === 'expired') return go(state, relist);
      const rested = rest(state, doing, moment);
      const isGivenUp = failure === 'unavailable' && moment.nowMs - rested.firstFailureMs >= relistAfterFailingMs;
      return isGivenUp ? { ...rested, doing: relist } : rested;
    }
    default:
      return doing satisfies never;
  }
}

/** `revision`: what is held already, so that the new list is not older than that. */
function readAll(usesWatchList: boolean, revision: string): ReflectorActivity {
  return usesWatchList ? { kind: 'streaming' } : { kind: 'listing', revision };
}

function go(state: ReflectorState, doing: ReflectorActivity): ReflectorState {
  return { ...state, doing, restMs: 0 };
}

function rest(state: ReflectorState, doing: ReflectorActivity, { nowMs, chance }: Moment): ReflectorState {
  const isFirst = state.failures === 0 || nowMs - state.lastFailureMs > healthyMs;
  const failures = isFirst ? 1 : state.failures + 1;
  const restMs = Math.min(firstRestMs * 2 ** (failures - 1), longestRestMs) * (1 + chance);
  const firstFailureMs = isFirst ? nowMs : state.firstFailureMs;
  return { ...state, doing, restMs, failures, firstFailureMs, lastFailureMs: nowMs };
}
