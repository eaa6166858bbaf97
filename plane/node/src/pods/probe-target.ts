import type { Container } from '@castellan/machinery';
import type { CommandResult } from '../sandbox/command.js';

/** How probes and hooks reach a container. */
export interface ProbeTarget {
  readonly podIp: string;
  readonly container: Container;
  /** Kills the command after `deadlineMs`, or when `signal` says so. */
  execute(command: readonly string[], deadlineMs: number, signal?: AbortSignal): Promise<CommandResult>;
}
