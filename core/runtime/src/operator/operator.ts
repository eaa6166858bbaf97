import type { Kind, KubernetesObject } from '@castellan/machinery';
import type { Controller } from '../controller.js';
import type { Webhook } from '../webhook/webhook.js';

/**
 * What one operator brings: the kinds it defines, the controllers that act on them and the webhooks that judge them. It is plain data, so the CLI's
 * plane, a Deployment on a real cluster and a test can all run the same operator.
 */
export interface Operator {
  /** As in `--operators LIST`: lower case, one word. */
  readonly name: string;
  readonly customResourceDefinitions: readonly KubernetesObject[];
  readonly controllers: readonly Controller[];
  /** Asked by the API server before objects are written. */
  readonly webhooks?: readonly Webhook[];
  /** Kinds with several versions, whose objects this operator converts. Their definitions are among those above. */
  readonly convertedKinds?: readonly Kind[];
}
