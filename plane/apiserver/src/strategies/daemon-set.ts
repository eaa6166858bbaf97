import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record } from '../json.js';
import { withTemplate } from '../pods/template.js';
import { templateWarnings } from '../pods/template-warnings.js';
import type { Strategy } from '../registry/strategy.js';
import { isEmptySelector, isReadable, selectorErrors, selects } from './label-selector.js';
import { nonNegative, rollingUpdateErrors } from './rollout-rules.js';
import { labelsMismatch, podErrors, selectorIsFixed, withSpec } from './selection.js';
import { statusRulesOf } from './workload-status.js';

const templateGeneration = 'deprecated.daemonset.template.generation';

export const daemonSetStrategy: Strategy = {
  warnings: templateWarnings(false, 'spec', 'template'),
  withDefaults: (object) =>
    withSpec(withTemplateGeneration(object, sentGeneration(object)), (spec) => {
      const updateStrategy = { type: 'RollingUpdate', ...record(spec.updateStrategy) };
      const rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...record(record(spec.updateStrategy).rollingUpdate) };
      return withTemplate({
        revisionHistoryLimit: 10,
        ...spec,
        updateStrategy: updateStrategy.type === 'RollingUpdate' ? { ...updateStrategy, rollingUpdate } : updateStrategy,
      });
    }),
  prepareForCreate: (object) => ({
    ...withTemplateGeneration(object, 1),
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
  }),
  prepareForUpdate: (object, current) => {
    const old = Number(current.metadata.annotations?.[templateGeneration] ?? 0);
    const isChanged = !deepEqual(at(object, 'spec', 'template'), at(current, 'spec', 'template'));
    return withTemplateGeneration(object, isChanged ? old + 1 : old);
  },
  validate: (object) => {
    const strategy = record(record(object.spec).updateStrategy);
    return [
      ...daemonSelectionErrors(object),
      ...podErrors(object),
      ...nonNegative(object, ['spec', 'minReadySeconds']),
      ...rollingUpdateErrors(strategy, 'spec.updateStrategy', ['RollingUpdate', 'OnDelete']),
      ...(strategy.type === 'RollingUpdate'
        ? oneAtATimeErrors(record(strategy.rollingUpdate), 'spec.updateStrategy.rollingUpdate')
        : []),
      ...nonNegative(object, ['spec', 'revisionHistoryLimit']),
    ];
  },
  validateUpdate: selectorIsFixed,
  validateStatus: statusRulesOf('DaemonSet'),
};

/** Upstream does not miss a selector that is not there: it finds that nothing is selected. */
function daemonSelectionErrors(object: ApiObject): readonly FieldError[] {
  const { selector, template } = record(object.spec);
  const labels = at(template, 'metadata', 'labels');
  const isEmpty = selector !== undefined && isEmptySelector(selector);
  return [
    ...selectorErrors(selector, 'spec.selector'),
    ...(isReadable(selector) && !isEmpty && !selects(selector, record(labels)) ? [labelsMismatch(labels)] : []),
    ...(isEmpty ? [fieldError.invalid('spec.selector', selector, 'empty selector is invalid for daemonset')] : []),
  ];
}

/** A node's pod is replaced after the old one is gone, or before. */
function oneAtATimeErrors({ maxSurge, maxUnavailable }: JsonRecord, path: string): readonly FieldError[] {
  const [isAfter, isBefore] = [isSomething(maxUnavailable), isSomething(maxSurge)];
  if (isAfter && isBefore) {
    return [fieldError.invalid(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')];
  }
  return isAfter || isBefore ? [] : [fieldError.required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')];
}

function isSomething(amount: unknown): boolean {
  return amount !== undefined && amount !== 0 && amount !== '0%';
}

/** The annotation stands for a field that kube-apiserver alone has: what is no number reads as none. */
function sentGeneration({ metadata }: ApiObject): number {
  const sent = metadata.annotations?.[templateGeneration] ?? '';
  return /^-?\d+$/.test(sent) ? Number(sent) : 0;
}

function withTemplateGeneration(object: ApiObject, generation: number): ApiObject {
  const annotations = { ...object.metadata.annotations, [templateGeneration]: String(generation) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
