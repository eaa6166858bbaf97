import type { Container, Pod } from '@castellan/machinery';
import type { Pull } from '../image-store/image-pulls.js';
import { type Image, ImageError } from '../images/image.js';
import { isImageName } from '../images/image-name.js';
import type { WaitingFacts } from './container-facts.js';
import type { PodHost } from './pod-host.js';

/** The image of a container is not there yet, or cannot be had. */
export class ImageWait extends Error {
  override readonly name = 'ImageWait';
  readonly waiting: WaitingFacts;

  constructor(waiting: WaitingFacts) {
    super(waiting.message);
    this.waiting = waiting;
  }
}

/** As kubelet has them: of pulls that failed one after the other. */
const firstBackOffMs = 10_000;
const lastBackOffMs = 300_000;
/** Somebody may load the image any moment, and looking for it costs nothing. */
const lookAgainMs = 2_000;
const pullPollMs = 200;

/** Where the image of one container comes from, start after start: what was tried, and when it is tried again. */
export class ContainerImage {
  readonly #host: PodHost;
  #pull: Pull | undefined;
  #failures = 0;
  #nextPullMs = 0;
  #problem = '';
  #isBackingOff = false;
  /** What the last event said that cannot change before somebody does something. */
  #refusal = '';

  constructor(host: PodHost) {
    this.#host = host;
  }

  /** @throws ImageWait with what the container waits for, in kubelet's words. */
  async get(pod: Pod, container: Container): Promise<Image> {
    const { image: name = '', imagePullPolicy } = container;
    if (!isImageName(name)) {
      const problem = `couldn't parse image name "${name}": invalid reference format`;
      const message = `Failed to apply default image tag "${name}": ${problem}`;
      throw this.#refuse(pod, 'InspectFailed', 'InvalidImageName', message);
    }
    const found = await this.#find(name);
    // What was loaded from an archive has no registry to ask, whatever the policy.
    const isEnough =
      found instanceof ImageError ? false : imagePullPolicy !== 'Always' || found.isFromRegistry !== true;
    if (!(found instanceof ImageError) && isEnough && this.#pull === undefined) return this.#present(pod, name, found);
    if (imagePullPolicy === 'Never') {
      const message = `Container image "${name}" is not present with pull policy of Never`;
      throw this.#refuse(pod, 'ErrImageNeverPull', 'ErrImageNeverPull', withReason(message, found));
    }
    return await this.#pulled(pod, name, found);
  }

  async #find(name: string): Promise<Image | ImageError> {
    try {
      return await this.#host.images.resolve(name);
    } catch (error) {
      if (error instanceof ImageError) return error;
      throw error;
    }
  }

  async #pulled(pod: Pod, name: string, found: Image | ImageError): Promise<Image> {
    const outcome = this.#pull?.outcome();
    switch (outcome?.kind) {
      case undefined:
        return this.#begin(pod, name, found);
      case 'running':
        throw this.#wait('ContainerCreating', '', pullPollMs);
      case 'failed':
        this.#pull = undefined;
        throw this.#fail(pod, name, outcome.message);
      case 'done': {
        this.#pull = undefined;
        const { tookMs, image } = outcome;
        const took = `${(tookMs / 1_000).toFixed(3)}s`;
        const message = `Successfully pulled image "${name}" in ${took} (${took} including waiting). Image size: ${image.bytes} bytes.`;
        this.#settle();
        this.#note(pod, 'Normal', 'Pulled', message);
        return await this.#host.images.resolve(name);
      }
    }
  }

  #begin(pod: Pod, name: string, found: Image | ImageError): never {
    if (this.#host.world.clock.now() < this.#nextPullMs) throw this.#backOff(pod, name);
    if (!this.#host.pulls.canPull)
      throw this.#fail(pod, name, withWays(found instanceof ImageError ? found.message : '', name));
    this.#note(pod, 'Normal', 'Pulling', `Pulling image "${name}"`);
    this.#pull = this.#host.pulls.begin(name);
    throw this.#wait('ContainerCreating', '', pullPollMs);
  }

  #present(pod: Pod, name: string, image: Image): Image {
    this.#settle();
    const described = image.substitution === undefined ? ` (${image.description})` : '';
    this.#note(pod, 'Normal', 'Pulled', `Container image "${name}" already present on machine${described}`);
    if (image.substitution !== undefined) this.#note(pod, 'Warning', 'ImageSubstituted', image.substitution);
    return image;
  }

  #fail(pod: Pod, name: string, problem: string): ImageWait {
    const backOffMs = Math.min(firstBackOffMs * 2 ** this.#failures, lastBackOffMs);
    this.#failures += 1;
    this.#nextPullMs = this.#host.world.clock.now() + backOffMs;
    this.#problem = problem;
    this.#isBackingOff = false;
    this.#note(pod, 'Warning', 'Failed', `Failed to pull image "${name}": ${problem}`);
    this.#note(pod, 'Warning', 'Failed', 'Error: ErrImagePull');
    return this.#wait('ErrImagePull', problem, lookAgainMs);
  }

  #backOff(pod: Pod, name: string): ImageWait {
    if (!this.#isBackingOff) {
      this.#isBackingOff = true;
      this.#note(pod, 'Normal', 'BackOff', `Back-off pulling image "${name}"`);
      this.#note(pod, 'Warning', 'Failed', 'Error: ImagePullBackOff');
    }
    const message = `Back-off pulling image "${name}": ErrImagePull: ${this.#problem}`;
    return this.#wait('ImagePullBackOff', message, lookAgainMs);
  }

  /** Told once, however often it is looked at. */
  #refuse(pod: Pod, event: string, reason: string, message: string): ImageWait {
    if (this.#refusal !== message) {
      this.#refusal = message;
      this.#note(pod, 'Warning', event, message);
      this.#note(pod, 'Warning', 'Failed', `Error: ${reason}`);
    }
    return this.#wait(reason, message, lookAgainMs);
  }

  #wait(reason: string, message: string, ms: number): ImageWait {
    return new ImageWait({ reason, message, retryAtMs: this.#host.world.clock.now() + ms });
  }

  #settle(): void {
    this.#failures = 0;
    this.#nextPullMs = 0;
    this.#isBackingOff = false;
    this.#refusal = '';
  }

  #note(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#host.events.record(pod, { type, reason, message });
  }
}

function withReason(message: string, found: Image | ImageError): string {
  return found instanceof ImageError ? `${message}: ${found.message}` : message;
}

/** What is missing, and every way to have it. */
function withWays(problem: string, name: string): string {
  const ways = `\`castellan image load FILE\` with what \`docker save ${name} -o FILE\` writes elsewhere, or apt-get install skopeo to pull it`;
  return problem.includes('; next: ') ? `${problem}, or ${ways}` : `${problem}; next: ${ways}`;
}
