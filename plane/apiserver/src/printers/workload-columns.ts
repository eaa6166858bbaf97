import { humanDuration } from '@castellan/machinery';
import { type ApiObject, at, count, list, record, records, text } from '../json.js';
import { age, nameOf, since } from './cells.js';
import { type Column, column } from './column.js';
import { selectorText } from './selector-text.js';

const none = '<none>';
const wide = { priority: 1 } as const;
const integer = { type: 'integer' } as const;

const name = column('Name', nameOf, { format: 'name' });
const ageColumn = column('Age', age);

function number(title: string, ...path: readonly string[]): Column {
  return column(title, (object) => count(at(object, ...path)) ?? 0, integer);
}

/** Containers, images and selector of what a workload makes. */
function podsOf(template: readonly string[], selector: readonly string[]): readonly Column[] {
  const containers = (object: ApiObject, field: string) =>
    records(at(object, ...template, 'spec', 'containers'))
      .map((container) => text(container[field]) ?? '')
      .join(',');
  return [
    column('Containers', (object) => containers(object, 'name'), wide),
    column('Images', (object) => containers(object, 'image'), wide),
    column('Selector', (object) => selectorText(at(object, ...selector)), wide),
  ];
}

const template = ['spec', 'template'];
const selector = ['spec', 'selector'];
const pods = podsOf(template, selector);

const ready = column(
  'Ready',
  (object) => `${count(at(object, 'status', 'readyReplicas')) ?? 0}/${count(at(object, 'spec', 'replicas')) ?? 0}`,
);

const replicaSetColumns = [
  name,
  number('Desired', 'spec', 'replicas'),
  number('Current', 'status', 'replicas'),
  number('Ready', 'status', 'readyReplicas'),
  ageColumn,
  ...pods,
];

/** kubectl's columns of the kinds that make pods. Source: kubectl's output for each kind. */
export const workloadColumns = {
  deployments: [
    name,
    ready,
    // Numbers that upstream calls strings.
    { ...number('Up-to-date', 'status', 'updatedReplicas'), type: 'string' },
    { ...number('Available', 'status', 'availableReplicas'), type: 'string' },
    ageColumn,
    ...pods,
  ],
  replicasets: replicaSetColumns,
  replicationcontrollers: replicaSetColumns,
  statefulsets: [name, ready, ageColumn, ...pods.slice(0, 2)],
  daemonsets: [
    name,
    number('Desired', 'status', 'desiredNumberScheduled'),
    number('Current', 'status', 'currentNumberScheduled'),
    number('Ready', 'status', 'numberReady'),
    number('Up-to-date', 'status', 'updatedNumberScheduled'),
    number('Available', 'status', 'numberAvailable'),
    column('Node Selector', (object) => labelsText(at(object, ...template, 'spec', 'nodeSelector'))),
    ageColumn,
    ...pods,
  ],
  controllerrevisions: [
    name,
    column('Controller', controllerOf, { description: 'Controller of the object' }),
    column('Revision', (object) => count(object.revision) ?? 0),
    ageColumn,
  ],
  jobs: [
    name,
    column('Status', jobStatus),
    column('Completions', completions),
    column('Duration', duration),
    ageColumn,
    ...pods,
  ],
  cronjobs: [
    name,
    column('Schedule', (object) => text(at(object, 'spec', 'schedule')) ?? ''),
    column('Timezone', (object) => text(at(object, 'spec', 'timeZone')) ?? none),
    column('Suspend', (object) => (at(object, 'spec', 'suspend') === true ? 'True' : 'False'), { type: 'boolean' }),
    column('Active', (object) => list(at(object, 'status', 'active')).length, integer),
    column('Last Schedule', lastSchedule),
    ageColumn,
    ...podsOf(['spec', 'jobTemplate', 'spec', 'template'], ['spec', 'jobTemplate', 'spec', 'selector']),
  ],
  horizontalpodautoscalers: [
    name,
    column('Reference', (object) => {
      const { kind, name: target } = record(at(object, 'spec', 'scaleTargetRef'));
      return `${text(kind) ?? ''}/${text(target) ?? ''}`;
    }),
    column('Targets', targets),
    column('MinPods', (object) => String(count(at(object, 'spec', 'minReplicas')) ?? '<unset>')),
    column('MaxPods', (object) => count(at(object, 'spec', 'maxReplicas')) ?? 0),
    column('Replicas', (object) => count(at(object, 'status', 'currentReplicas')) ?? 0),
    ageColumn,
  ],
  podtemplates: [
    name,
    ...podsOf(['template'], ['template', 'metadata', 'labels'])
      .slice(0, 2)
      .map((each) => ({ ...each, priority: 0 })),
    column('Pod Labels', (object) => labelsText(at(object, 'template', 'metadata', 'labels'))),
  ],
} satisfies Readonly<Record<string, readonly Column[]>>;

function labelsText(labels: unknown): string {
  const parts = Object.entries(record(labels))
    .map(([key, value]) => `${key}=${String(value)}`)
    .sort();
  return parts.length === 0 ? none : parts.join(',');
}

function controllerOf(object: ApiObject): string {
  const owner = records(object.metadata.ownerReferences).find(({ controller }) => controller === true);
  if (owner === undefined) return none;
  const [group = '', version] = (text(owner.apiVersion) ?? '').split('/');
  const kind = (text(owner.kind) ?? '').toLowerCase();
  return `${kind}${version === undefined ? '' : `.${group}`}/${text(owner.name) ?? ''}`;
}

function jobStatus(job: ApiObject): string {
  const conditions = records(at(job, 'status', 'conditions')).filter(({ status }) => status === 'True');
  const known = ['Complete', 'Failed', 'FailureTarget', 'Suspended', 'SuccessCriteriaMet'];
  const found = known.find((type) => conditions.some((condition) => condition.type === type));
  if (found === 'Complete' || found === 'Failed') return found;
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return found ?? 'Running';
}

function completions(job: ApiObject): string {
  const succeeded = count(at(job, 'status', 'succeeded')) ?? 0;
  const wanted = count(at(job, 'spec', 'completions'));
  if (wanted !== undefined) return `${succeeded}/${wanted}`;
  const parallelism = count(at(job, 'spec', 'parallelism')) ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function duration(job: ApiObject, nowMs: number): string {
  const start = text(at(job, 'status', 'startTime'));
  if (start === undefined) return '';
  const end = text(at(job, 'status', 'completionTime'));
  return humanDuration((end === undefined ? nowMs : Date.parse(end)) - Date.parse(start));
}

function lastSchedule(cronJob: ApiObject, nowMs: number): string {
  const time = at(cronJob, 'status', 'lastScheduleTime');
  return time === undefined ? none : since(time, nowMs);
}

/** What each metric is now, and what it should be: `cpu: 20%/80%`. */
function targets(autoscaler: ApiObject): string {
  const specified = records(at(autoscaler, 'spec', 'metrics'));
  const current = records(at(autoscaler, 'status', 'currentMetrics'));
  const shown = specified.map((metric, index) => metricText(metric, current[index]));
  return shown.length === 0 ? none : shown.join(', ');
}

function metricText(metric: Readonly<Record<string, unknown>>, current: unknown): string {
  const [source = ''] = Object.keys(metric).filter((field) => field !== 'type');
  const target = record(at(metric, source, 'target'));
  const now = record(at(current, source, 'current'));
  const isResource = source === 'resource' || source === 'containerResource';
  const label = isResource ? `${text(at(metric, source, 'name')) ?? ''}: ` : '';
  if (target.averageUtilization !== undefined) {
    const used = now.averageUtilization === undefined ? '<unknown>' : `${String(now.averageUtilization)}%`;
    return `${label}${used}/${String(target.averageUtilization)}%`;
  }
  const field = target.averageValue === undefined ? 'value' : 'averageValue';
  const suffix = field === 'averageValue' && !isResource ? ' (avg)' : '';
  return `${label}${text(now[field]) ?? '<unknown>'}/${text(target[field]) ?? '<unknown>'}${suffix}`;
}
