import { deepEqual, dns1123SubdomainErrors, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, text } from '../json.js';
import { templateErrors, withTemplate } from '../pods/template.js';
import { templateWarnings } from '../pods/template-warnings.js';
import type { Strategy } from '../registry/strategy.js';
import { scheduleErrors, timeZoneErrors } from './cron-schedule.js';
import { jobNumberErrors } from './job-numbers.js';
import { failurePolicyErrors, successPolicyErrors } from './job-policies.js';
import { jobUpdateErrors } from './job-update.js';
import { selects } from './label-selector.js';
import { nonNegative } from './rollout-rules.js';
import { statusRulesOf } from './workload-status.js';

const uidLabel = 'batch.kubernetes.io/controller-uid';
const nameLabel = 'batch.kubernetes.io/job-name';
/** Before they had a prefix. */
const oldLabels = { uid: 'controller-uid', name: 'job-name' } as const;
const maxLabelLength = 63;
const concurrencyPolicies = ['Allow', 'Forbid', 'Replace'];
const defaultBackoffLimit = 6;
/** Failures are counted by index. */
const unlimited = 2 ** 31 - 1;
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
  validateUpdate: jobUpdateErrors,
  validateStatus: statusRulesOf('Job'),
};

function texts(labels: JsonRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
}

function withJobDefaults(spec: JsonRecord): JsonRecord {
  const hasNumbers = spec.completions !== undefined || spec.parallelism !== undefined;
  return withTemplate({
    ...(hasNumbers ? {} : { completions: 1 }),
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? defaultBackoffLimit : unlimited,
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
  const restartPolicy = text(at(spec, 'template', 'spec', 'restartPolicy')) ?? '';
  const restartPath = `${path}.template.spec.restartPolicy`;
  const isKnown = restartPolicy === 'Never' || restartPolicy === 'OnFailure';
  return [
    ...jobNumberErrors(spec, path),
    ...failurePolicyErrors(spec, path),
    ...(spec.successPolicy !== undefined && spec.completionMode !== 'Indexed'
      ? [fieldError.invalid(`${path}.successPolicy`, spec.successPolicy, 'requires indexed completion mode')]
      : successPolicyErrors(spec, path)),
    ...replacementErrors(spec, `${path}.podReplacementPolicy`),
    ...templateErrors(spec.template, `${path}.template`),
    // A policy that nobody gave has become Always; one that is not known has been told of above.
    ...(restartPolicy === 'Always' || restartPolicy === ''
      ? [fieldError.required(restartPath, 'valid values: "OnFailure", "Never"')]
      : []),
    ...(restartPolicy === 'Always' || restartPolicy === '' || isKnown
      ? []
      : [fieldError.notSupported(restartPath, restartPolicy, ['OnFailure', 'Never'])]),
    ...(restartPolicy === 'OnFailure' && spec.podFailurePolicy !== undefined
      ? [fieldError.invalid(restartPath, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified')]
      : []),
  ];
}

const replacements = ['Failed', 'TerminatingOrFailed'];

/** A job that looks at how its pods failed waits until they have. */
function replacementErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const policy = spec.podReplacementPolicy;
  const allowed = spec.podFailurePolicy === undefined ? replacements : ['Failed'];
  return policy === undefined || allowed.includes(text(policy) ?? '')
    ? []
    : [fieldError.notSupported(path, policy, allowed)];
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
      ...jobTemplateErrors(record(at(spec, 'jobTemplate', 'spec')), 'spec.jobTemplate.spec'),
      ...limits.slice(1).flatMap((field) => nonNegative(cronJob, ['spec', field])),
    ];
  },
};

/** The jobs of a CronJob find their pods by themselves. */
function jobTemplateErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...jobSpecErrors(spec, path),
    ...(spec.selector === undefined
      ? []
      : [fieldError.invalid(`${path}.selector`, spec.selector, '`selector` will be auto-generated')]),
    ...(spec.manualSelector === true
      ? [fieldError.notSupported(`${path}.manualSelector`, true, ['nil', 'false'])]
      : []),
  ];
}
