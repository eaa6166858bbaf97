import type { KubernetesObject } from '@castellan/machinery';
import type { Controller } from '../controller.js';

/**
 * What one operator brings: the kinds it defines and the controllers that act on them. It is plain data, so the CLI's
 * plane, a Deployment on a real cluster and a test can all run the same operator.
 */
export interface Operator {
  /** As in `--operators LIST`: lower case, one word. */
  readonly name: string;
  readonly customResourceDefinitions: readonly KubernetesObject[];
  readonly controllers: readonly Controller[];
}
