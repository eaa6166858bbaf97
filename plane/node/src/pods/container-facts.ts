import type { ImageUser } from '../images/image.js';
import type { GivenResources } from './container-resources.js';

/** What is known of one container of a pod, from its records and probes. Plans and status are made of this alone. */
export interface ContainerFacts {
  readonly name: string;
  /** The newest start. */
  readonly current?: RunFacts;
  readonly previous?: RunFacts;
  /** Starts after the first. */
  readonly restartCount: number;
  /** Why it could not be started the last time it was tried. */
  readonly waiting?: WaitingFacts;
  /** It runs, and its postStart hook has not ended: nobody is told yet that it does. */
  readonly isStarting?: boolean;
  /** The startup probe has succeeded, or there is none and the program runs. */
  readonly isStarted: boolean;
  /** Of the readiness probe; counts only while the container runs and is started. */
  readonly isReady: boolean;
}

/** One start of a container. */
export interface RunFacts {
  readonly id: string;
  /** As the pod asked for it then. */
  readonly image: string;
  readonly imageId: string;
  /** Whom its image runs as, where that is not root. */
  readonly imageUser?: ImageUser;
  /** What it has now, whatever the pod asks for. */
  readonly resources?: GivenResources;
  readonly startedAtMs: number;
  /** How long the next start after this one has to wait. */
  readonly backoffMs: number;
  readonly end?: RunEnd;
}

export interface RunEnd {
  readonly exitCode: number;
  readonly finishedAtMs: number;
  /** `Completed`, `Error`, `OOMKilled`, `StartError`, `ContainerStatusUnknown`. */
  readonly reason: string;
  readonly message?: string;
  /** The plane stopped it as it went down: it goes on at the plane's next start, whatever the restart policy says. */
  readonly isSuspended: boolean;
}

export interface WaitingFacts {
  readonly reason: string;
  readonly message: string;
  /** Not to be tried again before. */
  readonly retryAtMs: number;
}
