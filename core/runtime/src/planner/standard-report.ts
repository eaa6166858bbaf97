import type { ConditionStatus } from '../controller/context.js';
import type { EventNote } from '../controller.js';
import type { Decision } from '../decision.js';

/** One row per condition of kstatus (sigs.k8s.io/cli-utils), in the order of the arguments of `context.condition`. */
export function standardConditions(
  decision: Decision<unknown>,
): readonly (readonly [type: string, status: ConditionStatus, reason: string, message: string])[] {
  const { kind } = decision;
  const sentence = kind === 'blocked' ? `${decision.reason}; ${decision.remedy}` : decision.reason;
  const rows: readonly (readonly [type: string, holds: boolean])[] = [
    ['Ready', kind === 'settled'],
    ['Reconciling', kind === 'step' || kind === 'wait'],
    ['Stalled', kind === 'blocked'],
  ];
  return rows.map(([type, holds]) => {
    const message = holds || type === 'Ready' ? sentence : '';
    return [type, holds ? 'True' : 'False', reasons[kind], message];
  });
}

const reasons = { step: 'Acting', wait: 'Waiting', blocked: 'Blocked', settled: 'Settled' } as const;

/** Each step that was done. Waits make no events: the status says what is waited for. */
export function standardEvents(decision: Decision<unknown>, describedStep: string): readonly EventNote[] {
  if (decision.kind !== 'step') return [];
  const message = `${describedStep.charAt(0).toUpperCase()}${describedStep.slice(1)}: ${decision.reason}`;
  return [{ type: 'Normal', reason: 'StepDone', message }];
}
