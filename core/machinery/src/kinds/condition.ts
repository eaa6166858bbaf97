/**
 * One condition of a status. `metav1.Condition` requires the last three fields; older kinds (pods, nodes) leave
 * `reason` and `message` out, and theirs have further fields, which are kept.
 */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
  /** RFC 3339: when `status` last changed. */
  readonly lastTransitionTime?: string;
  /** One CamelCase word, for programs. */
  readonly reason?: string;
  readonly message?: string;
}
