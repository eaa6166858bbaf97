import { inspect } from 'node:util';
import { isRecord } from '@castellan/machinery';
import type { Decision } from '../decision.js';
import { TerminalError } from '../terminal-error.js';

/**
 * What a reconcile returned, once it is certain that it is a decision: programs in JavaScript forget a `return`.
 *
 * @throws TerminalError naming `where` and what was returned.
 */
export function checkedDecision(returned: unknown, where: string): Decision<never> {
  if (isRecord(returned) && typeof returned.reason === 'string') {
    const { kind, reason } = returned;
    if (kind === 'settled') return { kind, reason };
    if (kind === 'wait' && isDelay(returned.afterMs)) return { kind, reason, afterMs: returned.afterMs };
    if (kind === 'blocked' && typeof returned.remedy === 'string') return { kind, reason, remedy: returned.remedy };
  }
  const shown = inspect(returned, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).slice(0, 200);
  throw new TerminalError(
    `the ${where} returned ${shown}, which is no decision: return settled(), wait(reason, ms) or blocked(reason, remedy)`,
  );
}

function isDelay(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
