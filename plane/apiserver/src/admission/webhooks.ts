import { applyJsonPatch, deepEqual, parseExactJson, StatusError } from '@castellan/machinery';
import {
  type ApiObject,
  asApiObject,
  at,
  count,
  isRecord,
  type JsonRecord,
  list,
  record,
  records,
  text,
} from '../json.js';
import type { AdmissionChange, AdmissionWrite } from '../registry/admission-control.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { AdmissionContext } from './admission-plugin.js';
import { admissionRequest } from './admission-request.js';
import { conditionsHold } from './conditions.js';
import { converted, equivalentWrite } from './equivalent-write.js';
import { Reinvocation } from './reinvocation.js';
import { matchedDefinition } from './rule-match.js';
import { callWebhook, WebhookCallError } from './webhook-call.js';

type Configurations = 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations';

/** The mutating webhooks of one write. */
export class MutatingWebhooks {
  readonly reinvocation = new Reinvocation<JsonRecord>();
  private readonly context: AdmissionContext;
  private webhooks: readonly JsonRecord[] | undefined;

  constructor(context: AdmissionContext) {
    this.context = context;
  }

  /** Sends a change through them, in the order of their configurations' names. */
  async mutate(write: AdmissionChange): Promise<ApiObject> {
    this.webhooks ??= await webhooksOf('mutatingwebhookconfigurations', this.context);
    let { object } = write;
    for (const webhook of this.webhooks) {
      if (!this.reinvocation.isAsked(webhook)) continue;
      const heard = await ask(webhook, { ...write, object }, this.context);
      if (heard === undefined) continue;
      const next = await patched(webhook, object, heard, write.definition);
      const isChanged = next !== object && !deepEqual(next, object);
      this.reinvocation.note(webhook, { isChanged, policy: webhook.reinvocationPolicy });
      if (isChanged) object = next;
    }
    return object;
  }
}

/** Mutating webhooks hear of deletes as well; they may refuse them, and there is nothing that they could change. */
export async function askMutatingWebhooksOfDelete(write: AdmissionWrite, context: AdmissionContext): Promise<void> {
  for (const webhook of await webhooksOf('mutatingwebhookconfigurations', context)) await ask(webhook, write, context);
}

/** Asks the validating webhooks, all at once. */
export async function validateByWebhooks(write: AdmissionWrite, context: AdmissionContext): Promise<void> {
  const webhooks = await webhooksOf('validatingwebhookconfigurations', context);
  await Promise.all(webhooks.map((webhook) => ask(webhook, write, context)));
}

async function webhooksOf(plural: Configurations, { server }: AdmissionContext): Promise<readonly JsonRecord[]> {
  const { store } = server.registry.builtin('admissionregistration.k8s.io', 'v1', plural);
  await store.cache.reach(0);
  return store.cache.list(store.layout.prefix).flatMap(({ object }) => records(object.webhooks));
}

/** What a webhook was shown, in the version that it asks for, and its response. */
interface Heard<Write> {
  readonly shown: Write;
  readonly response: JsonRecord;
}

/** Undefined where the webhook is not concerned, or could not be asked and may be passed over. */
async function ask<Write extends AdmissionWrite>(
  webhook: JsonRecord,
  requested: Write,
  context: AdmissionContext,
): Promise<Heard<Write> | undefined> {
  const { namespaceSelector, objectSelector, matchPolicy } = webhook;
  const match = { rules: records(webhook.rules), excludedRules: [], namespaceSelector, objectSelector, matchPolicy };
  const definition = await matchedDefinition(match, requested, context.server);
  if (definition === undefined) return undefined;
  const name = text(webhook.name) ?? '';
  const write = await equivalentWrite(requested, definition);
  const request = admissionRequest(write, context);
  const isIgnorable = webhook.failurePolicy === 'Ignore';
  if (!(await conditionsHold(records(webhook.matchConditions), request, { isIgnorable, write, context })))
    return undefined;
  if (context.isDryRun && !['None', 'NoneOnDryRun'].includes(text(webhook.sideEffects) ?? '')) {
    throw StatusError.of('BadRequest', `admission webhook ${JSON.stringify(name)} does not support dry run`);
  }
  try {
    const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request };
    const response = await callWebhook(context.server, webhook, review);
    for (const warning of list(response.warnings)) context.warn(String(warning));
    for (const [key, value] of Object.entries(record(response.auditAnnotations))) {
      context.annotate(`${name}/${key}`, String(value));
    }
    if (response.allowed !== true) throw denied(name, record(response.status));
    return { shown: write, response };
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    const problem = `failed calling webhook ${JSON.stringify(name)}: ${error.message}`;
    context.server.log?.(problem);
    if (isIgnorable) return undefined;
    throw StatusError.of('InternalError', `Internal error occurred: ${problem}`, { causes: [{ message: problem }] });
  }
}

/** The object in the version of the request, after the webhook's patch of what it was shown. */
async function patched(
  webhook: JsonRecord,
  object: ApiObject,
  { shown, response }: Heard<AdmissionChange>,
  requested: ResourceDefinition,
): Promise<ApiObject> {
  const patch = text(response.patch);
  if (patch === undefined) return object;
  const name = JSON.stringify(text(webhook.name) ?? '');
  if (response.patchType !== 'JSONPatch') {
    throw StatusError.of('InternalError', `Internal error occurred: webhook ${name} gave a patch that is no JSONPatch`);
  }
  const result = applyJsonPatch(shown.object, parseExactJson(Buffer.from(patch, 'base64').toString('utf8')));
  if (!isRecord(result)) {
    throw StatusError.of('InternalError', `Internal error occurred: the patch of webhook ${name} leaves no object`);
  }
  const changed = asApiObject(result);
  const { definition } = shown;
  return await converted(definition.strategy.withDefaults?.(changed) ?? changed, definition, requested);
}

/** The refusal as the webhook words it. Its code is one of a failure, whatever it says. */
function denied(name: string, status: JsonRecord): StatusError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const said = text(status.message) || text(status.reason);
  const code = count(status.code) ?? 0;
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: said === undefined ? `${by} without explanation` : `${by}: ${said}`,
    ...(text(status.reason) === undefined ? {} : { reason: text(status.reason) ?? '' }),
    ...(isRecord(at(status, 'details')) ? { details: record(status.details) } : {}),
    code: Math.max(code, 400),
  });
}
