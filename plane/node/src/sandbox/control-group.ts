/** What a container may use at most, and what it gets of a processor that is wanted by more. An absent limit is none. */
export interface ResourceLimits {
  readonly memoryBytes?: number;
  /** Thousandths of one processor. */
  readonly cpuMillis?: number;
  /** Its part of the processors while others want them too, against those of its pod; and its pod's, against other pods. */
  readonly shares: { readonly container: number; readonly pod: number };
  /** How many processes and threads the whole pod may have. */
  readonly podPids: number;
}

/** The name of a container's group, within its pod's, within its plane's. */
export interface GroupName {
  readonly plane: string;
  readonly pod: string;
  readonly container: string;
}

/** Where this machine keeps control groups. Both versions may be mounted; the one that has the controllers counts. */
export type CgroupLayout =
  | { readonly kind: 'v1'; readonly memory: string; readonly cpu: string; readonly pids?: string }
  | { readonly kind: 'v2'; readonly root: string }
  | { readonly kind: 'none'; readonly why: string };
