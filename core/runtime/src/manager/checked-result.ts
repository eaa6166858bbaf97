import { inspect } from 'node:util';
import { isRecord } from '@castellan/machinery';
import { TerminalError } from '../terminal-error.js';

/**
 * Programs in JavaScript, and functions typed `any`, may return anything.
 *
 * @throws TerminalError naming the controller and what its reconcile returned.
 */
export function assertResult(returned: unknown, controller: string): void {
  if (returned === undefined) return;
  const afterMs = isRecord(returned) ? returned.requeueAfterMs : Number.NaN;
  if (afterMs === undefined || (typeof afterMs === 'number' && Number.isFinite(afterMs) && afterMs >= 0)) return;
  const shown = inspect(returned, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).slice(0, 200);
  throw new TerminalError(
    `the reconcile of controller ${controller} returned ${shown}: return undefined, or { requeueAfterMs } with a time of ` +
      '0 ms or more',
  );
}
