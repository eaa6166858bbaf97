/** What the nodes that this server reaches, and their pods, use now. */
export type UsageSource = () => Promise<readonly NodeUsage[]>;

export interface NodeUsage {
  readonly name: string;
  readonly usage: MeasuredUsage;
  readonly pods: readonly PodUsage[];
}

export interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly { readonly name: string; readonly usage: MeasuredUsage }[];
}

export interface MeasuredUsage {
  /** Processors' worth. */
  readonly cores: number;
  readonly memoryBytes: number;
  /** When the window ended over which it was measured, in milliseconds since 1970. */
  readonly atMs: number;
  readonly windowMs: number;
}
