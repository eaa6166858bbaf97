import { deepEqual, dns1123SubdomainErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, text } from '../json.js';
import { printedTemplate } from '../pods/go-print.js';
import { templateErrors, withTemplate } from '../pods/template.js';
import { templateWarnings } from '../pods/template-warnings.js';
import type { Strategy } from '../registry/strategy.js';
import { scheduleErrors, timeZoneErrors } from './cron-schedule.js';
import { selects } from './label-selector.js';
import { nonNegative } from './rollout-rules.js';

const uidLabel = 'batch.kubernetes.io/controller-uid';
const nameLabel = 'batch.kubernetes.io/job-name';
/** Before they had a prefix. */
const oldLabels = { uid: 'controller-uid', name: 'job-name' } as const;
const maxLabelLength = 63;
const completionModes = ['NonIndexed', 'Indexed'];
const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'];
/** A job's name is that of its CronJob and eleven characters more. */
const maxCronJobName = 52;

export const jobStrategy: Strategy = {
  warnings: templateWarnings(true, 'spec', 'template'),
  withDefaults: (job) => {
    const labels = record(at(job, 'spec', 'template', 'metadata', 'labels'));
    const hasLabels = Object.keys(job.metadata.labels ?? {}).length > 0 || Object.keys(labels).length === 0;
    const metadata = hasLabels ? job.metadata : { ...job.metadata, labels: texts(labels) };
    return { ...job, metadata, spec: withJobDefaults(record(job.spec)) };
  },
  prepareForCreate: (job) => ({ ...withGeneratedSelector(job), status: {} }),
  validate: (job, current) => [
    ...selectorErrors(job, current === undefined),
    ...jobSpecErrors(record(job.spec), 'spec'),
  ],
  validateUpdate: (job, current) =>
    fixedFields.flatMap((field) => {
      const [next, old] = [at(job, 'spec', field), at(current, 'spec', field)];
      if (deepEqual(next, old)) return [];
      const shown = field === 'template' ? printedTemplate(record(next)) : (next ?? null);
      return [fieldError.invalid(`spec.${field}`, shown, 'field is immutable')];
    }),
};

const fixedFields = [
  'completions',
  'selector',
  'template',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
] as const;

function texts(labels: JsonRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
}

function withJobDefaults(spec: JsonRecord): JsonRecord {
  const hasNumbers = spec.completions !== undefined || spec.parallelism !== undefined;
  return withTemplate({
    ...(hasNumbers ? {} : { completions: 1 }),
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
    manualSelector: false,
    ...spec,
  });
}

/** A job finds its pods by its own uid, unless its maker says how. */
function withGeneratedSelector(job: ApiObject): ApiObject {
  const spec = record(job.spec);
  if (spec.manualSelector === true) return job;
  const { uid = '', name = '' } = job.metadata;
  const own = { [uidLabel]: uid, [nameLabel]: name, [oldLabels.uid]: uid, [oldLabels.name]: name };
  const template = record(spec.template);
  const metadata = record(template.metadata);
  const selector = record(spec.selector);
  const labels = { ...record(metadata.labels), ...own };
  // A name that is too long for a label is told of the template alone.
  const isLabelled = Object.keys(job.metadata.labels ?? {}).length > 0 || name.length > maxLabelLength;
  return {
    ...job,
    metadata: isLabelled ? job.metadata : { ...job.metadata, labels: texts(labels) },
    spec: {
      ...spec,
      selector: { ...selector, matchLabels: { ...record(selector.matchLabels), [uidLabel]: uid } },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  };
}

function selectorErrors(job: ApiObject, isNew: boolean): readonly FieldError[] {
  const { selector, template, manualSelector } = record(job.spec);
  const labels = record(at(template, 'metadata', 'labels'));
  const { uid } = job.metadata;
  const isOwn = manualSelector === true || !isNew || deepEqual(selector, { matchLabels: { [uidLabel]: uid } });
  return [
    ...(isOwn ? [] : [fieldError.invalid('spec.selector', selector, '`selector` not auto-generated')]),
    ...(selects(selector, labels)
      ? []
      : [fieldError.invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]),
  ];
}

function jobSpecErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const numbers = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];
  const mode = text(spec.completionMode) ?? 'NonIndexed';
  const restartPolicy = at(spec, 'template', 'spec', 'restartPolicy');
  const restartPath = `${path}.template.spec.restartPolicy`;
  return [
    ...numbers.flatMap((field) => nonNegative(spec, [field]).map((error) => ({ ...error, field: `${path}.${field}` }))),
    ...(completionModes.includes(mode)
      ? []
      : [fieldError.notSupported(`${path}.completionMode`, mode, completionModes)]),
    ...(mode === 'Indexed' && spec.completions === undefined
      ? [fieldError.required(`${path}.completions`, 'when completion mode is Indexed')]
      : []),
    ...(restartPolicy === 'OnFailure' && spec.podFailurePolicy !== undefined
      ? [fieldError.invalid(restartPath, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified')]
      : []),
    ...templateErrors(spec.template, `${path}.template`),
    ...(restartPolicy === 'Never' || restartPolicy === 'OnFailure'
      ? []
      : [fieldError.required(restartPath, 'valid values: "OnFailure", "Never"')]),
  ];
}

export const cronJobStrategy: Strategy = {
  warnings: templateWarnings(true, 'spec', 'jobTemplate', 'spec', 'template'),
  withDefaults: (cronJob) => {
    const spec = record(cronJob.spec);
    const template = record(spec.jobTemplate);
    const jobSpec = record(template.spec);
    return {
      ...cronJob,
      spec: {
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
        ...spec,
        // The job's own numbers are filled in when it is made.
        jobTemplate: { metadata: {}, ...template, spec: withTemplate(jobSpec) },
      },
    };
  },
  prepareForCreate: (cronJob) => ({ ...cronJob, status: {} }),
  nameProblems: (name) => [
    ...dns1123SubdomainErrors(name),
    ...(name.length > maxCronJobName ? [`must be no more than ${maxCronJobName} characters`] : []),
  ],
  validate: (cronJob) => {
    const spec = record(cronJob.spec);
    const policy = text(spec.concurrencyPolicy) ?? '';
    const limits = ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'];
    return [
      ...scheduleErrors(text(spec.schedule) ?? '', spec.timeZone !== undefined),
      ...timeZoneErrors(spec.timeZone),
      ...limits.slice(0, 1).flatMap((field) => nonNegative(cronJob, ['spec', field])),
      ...(concurrencyPolicies.includes(policy)
        ? []
        : [fieldError.notSupported('spec.concurrencyPolicy', policy, concurrencyPolicies)]),
      ...jobSpecErrors(record(at(spec, 'jobTemplate', 'spec')), 'spec.jobTemplate.spec'),
      ...limits.slice(1).flatMap((field) => nonNegative(cronJob, ['spec', field])),
    ];
  },
};
