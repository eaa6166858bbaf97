import type { Container, PodSpec } from '@castellan/machinery';
import type { ContainerFacts } from './container-facts.js';
import { restartAtMs } from './restart-backoff.js';

/** What is to be done for a pod that is meant to run, and what its containers wait for. Pure. */
export interface PodPlan {
  readonly start: readonly string[];
  /** Running, but not as the pod says now: to be ended, and then started anew. */
  readonly replace: readonly string[];
  /** Ended, and waiting for the time of their restart. */
  readonly backingOff: ReadonlySet<string>;
  readonly isInitialized: boolean;
  /** Set when no container will ever run again. */
  readonly outcome?: 'Succeeded' | 'Failed';
  /** When something may be done that may not be done now. */
  readonly lookAgainAtMs?: number;
}

type Policy = 'Always' | 'OnFailure' | 'Never';

type Move =
  | { readonly kind: 'start' | 'replace' | 'running' | 'done' | 'failed' }
  | { readonly kind: 'waiting'; readonly untilMs: number; readonly isBackingOff: boolean };

/** See SPEC.md, N4 to N9. */
export function planPod(spec: PodSpec, facts: ReadonlyMap<string, ContainerFacts>, nowMs: number): PodPlan {
  const podPolicy = policyOf(spec.restartPolicy);
  const moves = new Map<string, Move>();
  const finish = (isInitialized: boolean, outcome?: 'Succeeded' | 'Failed') =>
    summarize(moves, { isInitialized, ...(outcome === undefined ? {} : { outcome }) });

  for (const container of spec.initContainers ?? []) {
    const isSidecar = restartPolicyOf(container) === 'Always';
    const fact = facts.get(container.name);
    const policy = isSidecar ? 'Always' : podPolicy === 'Never' ? 'Never' : 'OnFailure';
    const move = decide(container, fact, policy, nowMs);
    moves.set(container.name, move);
    if (move.kind === 'failed') return finish(false, 'Failed');
    const isPassed = isSidecar ? move.kind === 'running' && fact?.isStarted === true : move.kind === 'done';
    if (!isPassed && !hasMainStarted(spec, facts)) return finish(false);
  }

  const main = spec.containers.map((container) => {
    const move = decide(container, facts.get(container.name), podPolicy, nowMs);
    moves.set(container.name, move);
    return move;
  });
  const isOver = main.every(({ kind }) => kind === 'done' || kind === 'failed');
  if (!isOver) return finish(true);
  return finish(true, main.some(({ kind }) => kind === 'failed') ? 'Failed' : 'Succeeded');
}

function decide(container: Container, facts: ContainerFacts | undefined, policy: Policy, nowMs: number): Move {
  const run = facts?.current;
  const notBeforeMs = facts?.waiting?.retryAtMs ?? 0;
  if (run === undefined) return startOrWait(notBeforeMs, nowMs, false);
  if (run.end === undefined) return { kind: run.image === container.image ? 'running' : 'replace' };
  if (!run.end.isSuspended) {
    if (run.end.exitCode === 0 && policy !== 'Always') return { kind: 'done' };
    if (policy === 'Never') return { kind: 'failed' };
  }
  const restartMs = restartAtMs(run);
  return startOrWait(Math.max(restartMs, notBeforeMs), nowMs, restartMs > nowMs);
}

function startOrWait(atMs: number, nowMs: number, isBackingOff: boolean): Move {
  return nowMs >= atMs ? { kind: 'start' } : { kind: 'waiting', untilMs: atMs, isBackingOff };
}

/** Init containers gate the first start only: what one of them does later (a sidecar's crash) stops nobody. */
function hasMainStarted(spec: PodSpec, facts: ReadonlyMap<string, ContainerFacts>): boolean {
  return spec.containers.some(({ name }) => facts.get(name)?.current !== undefined);
}

function summarize(moves: ReadonlyMap<string, Move>, rest: Pick<PodPlan, 'isInitialized' | 'outcome'>): PodPlan {
  const named = (kind: Move['kind']) => [...moves].filter(([, move]) => move.kind === kind).map(([name]) => name);
  const waits = [...moves].flatMap(([name, move]) => (move.kind === 'waiting' ? [{ name, ...move }] : []));
  const isOver = rest.outcome !== undefined;
  return {
    start: isOver ? [] : named('start'),
    replace: isOver ? [] : named('replace'),
    backingOff: new Set(waits.filter(({ isBackingOff }) => isBackingOff).map(({ name }) => name)),
    ...(waits.length === 0 || isOver ? {} : { lookAgainAtMs: Math.min(...waits.map(({ untilMs }) => untilMs)) }),
    ...rest,
  };
}

function policyOf(text: string | undefined): Policy {
  return text === 'Never' || text === 'OnFailure' ? text : 'Always';
}

/** Of a single container, which only init containers have: `Always` makes it a sidecar. */
function restartPolicyOf(container: Container): string | undefined {
  return container.restartPolicy;
}
