import {
  createJsonPatch,
  exactJson,
  invalidError,
  isList,
  isRecord,
  type JsonRecord,
  type KubernetesObject,
  type Status,
  StatusError,
} from '@castellan/machinery';
import type { AdmissionOperation, AdmissionQuestion, Verdict, Webhook } from './webhook.js';

/** The reply to an AdmissionReview (admission.k8s.io/v1) that asks `validate`. @throws what the handler throws */
export async function validationReview(webhook: Webhook, review: unknown, signal: AbortSignal): Promise<JsonRecord> {
  const { uid, object, question } = asked(review, signal);
  const verdict = (await webhook.handlers.validate?.(object, question)) ?? {};
  const status = refusalOf(webhook, object, verdict);
  return reply(uid, {
    allowed: status === undefined,
    ...(status === undefined ? {} : { status }),
    ...(verdict.warnings === undefined ? {} : { warnings: verdict.warnings }),
  });
}

/** The reply to an AdmissionReview that asks `mutate`: the patch from what was sent to what it gave. @throws as above */
export async function mutationReview(webhook: Webhook, review: unknown, signal: AbortSignal): Promise<JsonRecord> {
  const { uid, object, question } = asked(review, signal);
  const changed = (await webhook.handlers.mutate?.(object, question)) ?? object;
  const patch = createJsonPatch(object, changed);
  if (patch.length === 0) return reply(uid, { allowed: true });
  return reply(uid, {
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(exactJson(patch), 'utf8').toString('base64'),
  });
}

function reply(uid: string, response: JsonRecord): JsonRecord {
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, ...response } };
}

function refusalOf({ type }: Webhook, object: KubernetesObject, verdict: Verdict): Status | undefined {
  const { errors = [], refusal } = verdict;
  if (errors.length > 0) return invalidError(type, object.metadata.name ?? '', errors).status;
  return refusal === undefined ? undefined : StatusError.of('Forbidden', refusal).status;
}

interface Asked {
  readonly uid: string;
  readonly object: KubernetesObject;
  readonly question: AdmissionQuestion<KubernetesObject>;
}

/** @throws StatusError `BadRequest` for what is no AdmissionReview. */
function asked(review: unknown, signal: AbortSignal): Asked {
  const request = isRecord(review) && review.kind === 'AdmissionReview' ? review.request : undefined;
  if (!isRecord(request) || typeof request.uid !== 'string') throw badReview('it is no AdmissionReview with a request');
  const { uid, operation } = request;
  if (!isOperation(operation)) throw badReview(`its operation is ${JSON.stringify(operation)}`);
  const old = isObject(request.oldObject) ? request.oldObject : undefined;
  const object = isObject(request.object) ? request.object : old;
  if (object === undefined) throw badReview('it has no object');
  const question = {
    operation,
    ...(old === undefined ? {} : { old }),
    user: userOf(request.userInfo),
    isDryRun: request.dryRun === true,
    signal,
  };
  return { uid, object, question };
}

export function badReview(why: string): StatusError {
  return StatusError.of('BadRequest', `the review cannot be understood: ${why}`);
}

function isOperation(value: unknown): value is AdmissionOperation {
  return value === 'CREATE' || value === 'UPDATE' || value === 'DELETE';
}

export function isObject(value: unknown): value is KubernetesObject {
  return isRecord(value) && isRecord(value.metadata);
}

function userOf(value: unknown): AdmissionQuestion<KubernetesObject>['user'] {
  const { username, groups } = isRecord(value) ? value : {};
  return {
    username: typeof username === 'string' ? username : '',
    groups: isList(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
}
