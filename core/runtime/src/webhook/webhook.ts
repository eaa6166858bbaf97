import type { FieldError, KubernetesObject, LabelSelectorObject, ResourceType } from '@castellan/machinery';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE';

/** Who asks for what, besides the object itself. */
export interface AdmissionQuestion<T extends KubernetesObject> {
  readonly operation: AdmissionOperation;
  /** The object as it is; absent for one that is created. */
  readonly old?: T;
  readonly user: { readonly username: string; readonly groups: readonly string[] };
  /** Nothing will be written: the answer is to have no effect of its own. */
  readonly isDryRun: boolean;
  /** Aborts when the answer would come too late. */
  readonly signal: AbortSignal;
}

/** Nothing, or one without errors and refusal, lets the request pass. */
export interface Verdict {
  /** Which fields are wrong, and how (`fieldError`): the client is told all of them as the API server does its own. */
  readonly errors?: readonly FieldError[];
  /** Why the request is refused, where no field is at fault. */
  readonly refusal?: string;
  /** Shown to the client, whatever becomes of the request. */
  readonly warnings?: readonly string[];
}

/**
 * Asked by the API server before an object is written. What it throws, and a time that it lets pass, is a failure of the webhook:
 * then `failurePolicy` says what becomes of the request.
 */
export interface WebhookHandlers<T extends KubernetesObject> {
  /** Says what is wrong. Of a delete, `object` is what is to be deleted. */
  validate?(object: T, question: AdmissionQuestion<T>): Verdict | undefined | Promise<Verdict | undefined>;
  /** Gives the object as it shall be written; the same one where nothing is to change. Not asked of deletes. */
  mutate?(object: T, question: AdmissionQuestion<T>): T | Promise<T>;
  /** What `validate` is asked of; CREATE and UPDATE unless told. */
  readonly validates?: readonly AdmissionOperation[];
  /** `Fail` unless told: a request that could not be looked at is refused. */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** From 1 to 30; 10 unless told. */
  readonly timeoutSeconds?: number;
  /** Of which objects it is asked; of all unless told. */
  readonly asks?: AskedObjects;
}

/** As in a ValidatingWebhookConfiguration: all of these have to hold. */
export interface AskedObjects {
  /** On the labels of the object's namespace: leave out the operator's own, and it can be repaired while it does not answer. */
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  /** In CEL, on `object`, `oldObject` and `request`. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

/** Handlers of one kind, for `createWebhooks`. */
export interface Webhook {
  readonly type: ResourceType;
  readonly handlers: WebhookHandlers<KubernetesObject>;
}

/** Declares what is to be asked of the objects of a kind before they are written. */
export function webhook<T extends KubernetesObject>(type: ResourceType<T>, handlers: WebhookHandlers<T>): Webhook {
  return { type, handlers };
}
