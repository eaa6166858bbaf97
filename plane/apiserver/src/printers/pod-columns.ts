import { type ApiObject, at, records, text } from '../json.js';
import { age, nameOf, since } from './cells.js';
import { type Column, column } from './column.js';
import { podSummary } from './pod-summary.js';

const none = '<none>';

export const podColumns: readonly Column[] = [
  column('Name', nameOf, { format: 'name' }),
  column('Ready', (pod) => {
    const { running, total } = podSummary(pod);
    return `${running}/${total}`;
  }),
  column('Status', (pod) => podSummary(pod).reason),
  column('Restarts', restarts),
  column('Age', age),
  column('IP', (pod) => text(at(pod, 'status', 'podIP')) ?? none, { priority: 1 }),
  column('Node', (pod) => text(at(pod, 'spec', 'nodeName')) ?? none, { priority: 1 }),
  column('Nominated Node', (pod) => text(at(pod, 'status', 'nominatedNodeName')) ?? none, { priority: 1 }),
  column('Readiness Gates', readinessGates, { priority: 1 }),
];

function restarts(pod: ApiObject, nowMs: number): string {
  const { restarts: total, lastRestart } = podSummary(pod);
  return total === 0 || lastRestart === '' ? String(total) : `${total} (${since(lastRestart, nowMs)} ago)`;
}

function readinessGates(pod: ApiObject): string {
  const gates = records(at(pod, 'spec', 'readinessGates'));
  if (gates.length === 0) return none;
  const conditions = records(at(pod, 'status', 'conditions'));
  const met = gates.filter(({ conditionType }) =>
    conditions.some(({ type, status }) => type === conditionType && status === 'True'),
  );
  return `${met.length}/${gates.length}`;
}
