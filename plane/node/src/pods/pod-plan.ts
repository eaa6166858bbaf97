import type { Container, PodSpec } from '@castellan/machinery';
import type { ContainerFacts } from './container-facts.js';
import { restartAtMs } from './restart-backoff.js';
import { isSidecar, restarts } from './restart-policy.js';

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

type Move =
  | { readonly kind: 'start' | 'replace' | 'running' | 'done' | 'failed' }
  | { readonly kind: 'waiting'; readonly untilMs: number; readonly isBackingOff: boolean };

/** See SPEC.md, N4 to N9. */
export function planPod(spec: PodSpec, facts: ReadonlyMap<string, ContainerFacts>, nowMs: number): PodPlan {
  const moves = new Map<string, Move>();
  const finish = (isInitialized: boolean, outcome?: 'Succeeded' | 'Failed') =>
    summarize(moves, { isInitialized, ...(outcome === undefined ? {} : { outcome }) });

  for (const { name } of spec.ephemeralContainers ?? []) {
    const fact = facts.get(name);
    // Started once, whatever the pod is at, and never again.
    if (fact?.current === undefined) moves.set(name, startOrWait(fact?.waiting?.retryAtMs ?? 0, nowMs, false));
  }
  for (const container of spec.initContainers ?? []) {
    const fact = facts.get(container.name);
    const move = decide(spec, container, { fact, nowMs });
    moves.set(container.name, move);
    if (move.kind === 'failed') return finish(false, 'Failed');
    const isPassed = isSidecar(container) ? move.kind === 'running' && fact?.isStarted === true : move.kind === 'done';
    if (!isPassed && !hasMainStarted(spec, facts)) return finish(false);
  }

  const main: Move[] = [];
  for (const container of spec.containers) {
    const fact = facts.get(container.name);
    const move = decide(spec, container, { fact, nowMs });
    moves.set(container.name, move);
    main.push(move);
    // Its postStart hook holds up those that come after it, as kubelet's one loop over all of them does.
    if (fact?.isStarting === true) return finish(true);
  }
  const isOver = main.every(({ kind }) => kind === 'done' || kind === 'failed');
  if (!isOver) return finish(true);
  return finish(true, main.some(({ kind }) => kind === 'failed') ? 'Failed' : 'Succeeded');
}

function decide(
  spec: PodSpec,
  container: Container,
  { fact, nowMs }: { readonly fact: ContainerFacts | undefined; readonly nowMs: number },
): Move {
  const run = fact?.current;
  const notBeforeMs = fact?.waiting?.retryAtMs ?? 0;
  if (run === undefined) return startOrWait(notBeforeMs, nowMs, false);
  if (run.end === undefined) return { kind: run.image === container.image ? 'running' : 'replace' };
  if (!run.end.isSuspended && !restarts(spec, container, run.end.exitCode)) {
    return { kind: run.end.exitCode === 0 ? 'done' : 'failed' };
  }
  const restartMs = restartAtMs(run);
  return startOrWait(Math.max(restartMs, notBeforeMs), nowMs, restartMs > nowMs);
}

function startOrWait(atMs: number, nowMs: number, isBackingOff: boolean): Move {
  return nowMs >= atMs ? { kind: 'start' } : { kind: 'waiting', untilMs: atMs, isBackingOff };
}

/** What is left to be done for a pod that fails whatever its containers do: to end. */
export function failedPlan(plan: PodPlan): PodPlan {
  const { lookAgainAtMs: _, ...rest } = plan;
  return { ...rest, start: [], replace: [], outcome: 'Failed' };
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
