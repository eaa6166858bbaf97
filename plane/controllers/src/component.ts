import type { Client } from '@castellan/client';
import type { Log } from '@castellan/runtime';
import type { World } from '@castellan/world';

/** Work of the plane that is no reconcile of one kind: it runs beside the manager until the signal aborts. */
export interface Component {
  readonly name: string;
  /** Resolves when stopped; rejects only for what a retry cannot mend. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ComponentContext {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
}
