import { existsSync } from 'node:fs';
import {
  type Container,
  configMaps,
  nodes,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
} from '@castellan/machinery';
import type { Image } from '../images/image.js';
import { createCgroup, removeCgroups } from '../sandbox/cgroups.js';
import { ContainerProcess } from '../sandbox/container-process.js';
import type { PodNetwork } from '../sandbox/pod-network.js';
import type { ProcessIdentity } from '../sandbox/process-identity.js';
import { requestToken } from './account-token.js';
import type { ContainerFacts, WaitingFacts } from './container-facts.js';
import { ContainerImage, ImageWait } from './container-image.js';
import { containerLaunch, standardEnvironment } from './container-launch.js';
import { givenResources, resourceLimits } from './container-resources.js';
import { ContainerRun } from './container-run.js';
import { ContainerConfigError, type EnvironmentSources, resolveEnvironment } from './environment.js';
import { stopSignalOf } from './lifecycle-hook.js';
import type { PodDirectory } from './pod-directory.js';
import { podFiles } from './pod-files.js';
import type { PodHost } from './pod-host.js';
import { containersOf, targetOf } from './pod-spec.js';
import { volumeMounts } from './pod-volumes.js';
import type { VolumeSources } from './projected-files.js';
import { nextBackoffMs } from './restart-backoff.js';
import { restarts } from './restart-policy.js';
import { checkSecurity } from './security-context.js';
import { settledMounts } from './settled-mounts.js';
import { ensureSharedProcesses } from './shared-processes.js';
import { VolumeError } from './volume-error.js';

interface Entry {
  current?: ContainerRun;
  previous?: ContainerRun;
  waiting?: WaitingFacts;
  image?: ContainerImage;
  failures: number;
}

/** What probes say of a run. */
export interface ProbeFacts {
  isStarted(run: ContainerRun): boolean;
  isReady(run: ContainerRun): boolean;
  /** Its postStart hook has not ended. */
  isStarting(run: ContainerRun): boolean;
}

const firstRetryMs = 1_000;
const lastRetryMs = 30_000;
/** What is missing may be created any moment, and looking for it costs one read. */
const lastConfigRetryMs = 4_000;

/** The starts of a pod's containers: those found on disk, and new ones. */
export class PodContainers {
  readonly #host: PodHost;
  readonly #uid: string;
  readonly #directory: PodDirectory;
  readonly #entries = new Map<string, Entry>();

  constructor(host: PodHost, uid: string, directory: PodDirectory) {
    this.#host = host;
    this.#uid = uid;
    this.#directory = directory;
  }

  /** Takes over the newest two starts of each container that an earlier plane has written down. */
  adopt(networkNamespace: string): void {
    for (const name of this.#directory.containers()) {
      const runs = this.#directory.runNumbers(name).flatMap((number) => {
        const record = this.#directory.readRun(name, number);
        const process = ContainerProcess.adopt(this.#directory.runDirectory(name, number), networkNamespace);
        if (record !== undefined && process.wasSupervised()) return [new ContainerRun(record, process, this.#uid)];
        this.#directory.removeRun(name, number);
        return [];
      });
      for (const run of runs) if (!run.isRunning()) this.#host.logs.look(run.process.directory);
      const [current, previous] = runs.reverse();
      this.#entries.set(name, {
        ...(current === undefined ? {} : { current }),
        ...(previous === undefined ? {} : { previous }),
        failures: 0,
      });
    }
  }

  facts(pod: Pod, probes: ProbeFacts): ReadonlyMap<string, ContainerFacts> {
    return new Map(
      [...containersOf(pod), ...(pod.spec?.ephemeralContainers ?? [])].map(({ name }) => {
        const { current, previous, waiting } = this.#entries.get(name) ?? {};
        const facts: ContainerFacts = {
          name,
          restartCount: current?.record.number ?? 0,
          isStarted: current !== undefined && probes.isStarted(current),
          isReady: current !== undefined && probes.isReady(current),
          ...(current !== undefined && probes.isStarting(current) ? { isStarting: true } : {}),
          ...(current === undefined ? {} : { current: current.facts() }),
          ...(previous === undefined ? {} : { previous: previous.facts() }),
          ...(waiting === undefined ? {} : { waiting }),
        };
        return [name, facts];
      }),
    );
  }

  run(name: string): ContainerRun | undefined {
    return this.#entries.get(name)?.current;
  }

  previousRun(name: string): ContainerRun | undefined {
    return this.#entries.get(name)?.previous;
  }

  running(): readonly ContainerRun[] {
    return [...this.#entries.values()].flatMap(({ current }) => (current?.isRunning() === true ? [current] : []));
  }

  all(): readonly ContainerRun[] {
    return [...this.#entries.values()].flatMap(({ current }) => current ?? []);
  }

  /**
   * Starts a container anew. What the manifest or the machine lack is kept as the reason why it waits, and tried
   * again later; `undefined` then.
   */
  async start(pod: Pod, container: Container, network: PodNetwork): Promise<ContainerRun | undefined> {
    const entry = this.#entry(container.name);
    try {
      entry.image ??= new ContainerImage(this.#host);
      const image = await entry.image.get(pod, container);
      const run = await this.#start(pod, container, { image, network, previous: entry.current });
      this.#forget(entry.previous);
      if (entry.current !== undefined) entry.previous = entry.current;
      entry.current = run;
      delete entry.waiting;
      entry.failures = 0;
      const end = run.end();
      const isTriedAgain = containersOf(pod).includes(container) && restarts(pod.spec, container, end?.exitCode ?? 0);
      if (end?.reason === 'StartError' && isTriedAgain) {
        this.explainEnd(container.name, 'RunContainerError', end.message ?? '');
      }
      return run;
    } catch (error) {
      if (error instanceof ImageWait) {
        entry.waiting = error.waiting;
        return undefined;
      }
      entry.failures += 1;
      entry.waiting = this.#waiting(error, entry.failures);
      const message = `Error: ${entry.waiting.message}`;
      this.#host.events.record(pod, { type: 'Warning', reason: 'Failed', message });
      return undefined;
    }
  }

  /** Says why a container that was ended does not run: until it is started again, which nothing holds up. */
  explainEnd(name: string, reason: string, message: string): void {
    this.#entry(name).waiting = { reason, message, retryAtMs: this.#host.world.clock.now() };
  }

  /** Where the environment and the volumes of a pod come from; the pod as it is now. */
  sources(pod: Pod, podIp: string): EnvironmentSources & VolumeSources {
    const namespace = pod.metadata.namespace ?? '';
    const { client, nodeName, nodeNetwork } = this.#host;
    const links = { namespace, isLinked: pod.spec?.enableServiceLinks !== false };
    return {
      pod,
      nodeName,
      podIp,
      hostIp: nodeNetwork.address,
      base: { ...standardEnvironment(pod), ...this.#host.serviceEnvironment(links) },
      configMap: (name) => client.find(configMaps, { namespace, name }),
      secret: (name) => client.find(secrets, { namespace, name }),
      token: (wish) => requestToken(this.#host, pod, wish),
      claim: (name) => client.find(persistentVolumeClaims, { namespace, name }),
      persistentVolume: (name) => client.find(persistentVolumes, { name }),
      node: () => client.find(nodes, { name: nodeName }),
    };
  }

  async #start(
    pod: Pod,
    container: Container,
    {
      image,
      network,
      previous,
    }: { readonly image: Image; readonly network: PodNetwork; readonly previous: ContainerRun | undefined },
  ): Promise<ContainerRun> {
    checkSecurity(pod, container, image.user);
    const sources = this.#withImage(this.sources(await this.#freshest(pod, container), network.address), image);
    const environment = await resolveEnvironment(container, sources);
    const volumes = volumeMounts(this.#directory.volumes, pod, settledMounts(container, environment));
    const number = previous === undefined ? 0 : previous.record.number + 1;
    const group = { plane: this.#host.network.bridge, pod: this.#uid, container: `${container.name}-${number}` };
    const cgroups = createCgroup(this.#host.cgroups, group, resourceLimits(pod, container));
    const stopSignal = stopSignalOf(container) ?? image.stopSignal;
    this.#directory.writeRun({
      container: container.name,
      number,
      image: container.image ?? '',
      imageId: image.id,
      ...(image.user === undefined ? {} : { imageUser: image.user }),
      startedAtMs: this.#host.world.clock.now(),
      backoffMs: nextBackoffMs(previous?.facts()),
      cgroups,
      resources: givenResources(container),
      messageFromLog: container.terminationMessagePolicy === 'FallbackToLogsOnError',
      ...(stopSignal === undefined ? {} : { stopSignal }),
    });
    const record = this.#directory.readRun(container.name, number);
    if (record === undefined) throw new Error(`the record of ${container.name}'s start cannot be read back`);
    const { events, clusterDomain, network: plane } = this.#host;
    const joins = await this.#joined(pod, container, network);
    const launch = containerLaunch({
      pod,
      container,
      image,
      environment,
      volumes,
      files: podFiles(pod, { clusterDomain, nameServer: plane.gateway, podIp: network.address }),
      directory: this.#directory.runDirectory(container.name, number),
      networkNamespace: network.namespace,
      ...(joins === undefined ? {} : { joins }),
      cgroups,
    });
    events.record(pod, { type: 'Normal', reason: 'Created', message: `Created container ${container.name}` });
    const run = new ContainerRun(record, await ContainerProcess.start(launch), this.#uid);
    const end = run.end();
    if (end?.reason === 'StartError') {
      events.record(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${end.message}` });
    } else {
      events.record(pod, { type: 'Normal', reason: 'Started', message: `Started container ${container.name}` });
    }
    return run;
  }

  /** Whose processes it runs among: those of its target, of its whole pod, or nobody's. */
  async #joined(pod: Pod, container: Container, network: PodNetwork): Promise<ProcessIdentity | undefined> {
    if (pod.spec?.shareProcessNamespace === true) return await ensureSharedProcesses(this.#directory, pod, network);
    const target = targetOf(container);
    if (target === undefined) return undefined;
    const process = this.run(target)?.process.mainProcess();
    if (process === undefined) throw new Error(`target container "${target}" is not running`);
    return process;
  }

  /**
   * The pod as the API server has it now, for fields in the environment: whoever changes an annotation and then ends
   * the container must find the change in its next start, and what we hold may be a moment old.
   */
  async #freshest(pod: Pod, container: Container): Promise<Pod> {
    if (!(container.env ?? []).some(({ valueFrom }) => valueFrom?.fieldRef !== undefined)) return pod;
    const { namespace = '', name = '' } = pod.metadata;
    const now = await this.#host.client.find(pods, { namespace, name });
    return now?.metadata.uid === this.#uid ? now : pod;
  }

  #withImage(sources: EnvironmentSources, image: Image): EnvironmentSources {
    return { ...sources, base: { ...sources.base, ...image.environment } };
  }

  #entry(name: string): Entry {
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const entry: Entry = { failures: 0 };
    this.#entries.set(name, entry);
    return entry;
  }

  /** One earlier start is kept for its log; what is older goes, with its control groups. */
  #forget(run: ContainerRun | undefined): void {
    if (run === undefined) return;
    removeCgroups(run.record.cgroups);
    if (existsSync(run.process.directory)) this.#directory.removeRun(run.record.container, run.record.number);
  }

  #waiting(error: unknown, failures: number): WaitingFacts {
    const message = error instanceof Error ? error.message : String(error);
    const isConfig = error instanceof ContainerConfigError || error instanceof VolumeError;
    const longestMs = isConfig ? lastConfigRetryMs : lastRetryMs;
    const retryAtMs = this.#host.world.clock.now() + Math.min(firstRetryMs * 2 ** (failures - 1), longestMs);
    return { reason: isConfig ? 'CreateContainerConfigError' : 'CreateContainerError', message, retryAtMs };
  }
}
