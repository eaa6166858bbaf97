import type { Container, Pod } from '@castellan/machinery';
import { resizeContainer } from './container-resize.js';
import { givenResources } from './container-resources.js';
import type { ContainerRun } from './container-run.js';
import type { PodContainers } from './pod-containers.js';
import type { PodDirectory } from './pod-directory.js';
import type { PodHost } from './pod-host.js';
import { containersOf } from './pod-spec.js';

export interface ResizeListener {
  /** A container is to begin anew with its new resources. */
  restart(run: ContainerRun, message: string): void;
}

/** Gives the running containers of a pod what it asks for now, as far as that can be done while they run. */
export class PodResizes {
  readonly #host: PodHost;
  readonly #directory: PodDirectory;
  #problem: string | undefined;

  constructor(host: PodHost, directory: PodDirectory) {
    this.#host = host;
    this.#directory = directory;
  }

  /** What could not be done. */
  get problem(): string | undefined {
    return this.#problem;
  }

  apply(pod: Pod, containers: PodContainers, listener: ResizeListener): void {
    const problems = containersOf(pod).flatMap((container) => {
      const run = containers.run(container.name);
      return run?.isRunning() === true ? this.#resize(run, { pod, container }, listener) : [];
    });
    const problem = problems.length === 0 ? undefined : problems.join('; ');
    if (problem !== undefined && problem !== this.#problem) {
      this.#host.events.record(pod, { type: 'Warning', reason: 'ResizeInfeasible', message: problem });
    }
    this.#problem = problem;
  }

  #resize(
    run: ContainerRun,
    { pod, container }: { readonly pod: Pod; readonly container: Container },
    listener: ResizeListener,
  ): readonly string[] {
    const { name } = container;
    const result = resizeContainer(this.#host, run, { pod, container });
    if (result.kind === 'infeasible') return [result.why];
    if (result.kind === 'restart') listener.restart(run, `Container ${name} resize requires restart`);
    if (result.kind === 'done') {
      this.#directory.updateRun(run.resized(givenResources(container)));
      this.#host.events.record(pod, {
        type: 'Normal',
        reason: 'ResizeCompleted',
        message: `Container ${name} was resized`,
      });
    }
    return [];
  }
}
