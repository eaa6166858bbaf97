/** Where a kind keeps what autoscaling/v1 Scale shows of it. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** Where the selector stands as text. */
  readonly labelSelector?: readonly string[];
  /** Where it stands as a metav1.LabelSelector, or as plain labels. */
  readonly selector?: readonly string[];
}
