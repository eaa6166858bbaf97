import { at, record, records, text } from '../json.js';
import { nameOf } from '../printers/cells.js';
import { column } from '../printers/column.js';
import { define } from '../registry/define.js';
import type { ResourceDefinition } from '../registry/resource.js';

export const usageGroup = 'metrics.k8s.io';
const common = { group: usageGroup, version: 'v1beta1', singular: '', verbs: ['get', 'list'] } as const;

export const nodeUsageKind = define({
  ...common,
  kind: 'NodeMetrics',
  plural: 'nodes',
  isNamespaced: false,
  columns: [
    column('Name', nameOf, { format: 'name' }),
    column('cpu', (object) => text(at(object, 'usage', 'cpu')) ?? ''),
    column('memory', (object) => text(at(object, 'usage', 'memory')) ?? ''),
    column('Window', (object) => text(object.window) ?? ''),
  ],
});

export const podUsageKind = define({
  ...common,
  kind: 'PodMetrics',
  plural: 'pods',
  isNamespaced: true,
  columns: [
    column('Name', nameOf, { format: 'name' }),
    column('cpu', (object) => `${sumOf(object.containers, 'cpu')}n`),
    column('memory', (object) => `${sumOf(object.containers, 'memory')}Ki`),
    column('Window', (object) => text(object.window) ?? ''),
  ],
});

/** What is served where nodes can be asked, and nothing is stored of. */
export const usageKinds: readonly ResourceDefinition[] = [nodeUsageKind, podUsageKind];

function sumOf(containers: unknown, resource: string): number {
  return records(containers).reduce((sum, { usage }) => sum + Number.parseInt(String(record(usage)[resource]), 10), 0);
}
