import { type ConfigMap, configMaps, isStatusError, type KubernetesObject, namespaces } from '@castellan/machinery';
import { KeyedBackoff, type ReflectorSink, runReflector, WorkQueue } from '@castellan/runtime';
import type { Component, ComponentContext } from '../component.js';
import { isNamespaceTerminating } from '../namespace-terminating.js';

const configMapName = 'kube-root-ca.crt';
const certificateKey = 'ca.crt';
const workers = 4;
const backoff = { baseMs: 20, capMs: 30_000 };

/**
 * Keeps the ConfigMap `kube-root-ca.crt` in every namespace: by it pods know the API server. A component, because it
 * watches ConfigMaps of this one name, where a controller would hold every ConfigMap there is in memory.
 */
export function rootCertificatePublisher(context: ComponentContext, rootCertificate: string): Component {
  return {
    name: 'root-certificate-publisher',
    run: (signal) => new Publisher(context, rootCertificate).run(signal),
  };
}

class Publisher {
  readonly #context: ComponentContext;
  readonly #certificate: string;
  readonly #queue: WorkQueue;
  readonly #namespaces = new Set<string>();
  /** What the ConfigMap of each namespace says. */
  readonly #published = new Map<string, string>();

  constructor(context: ComponentContext, certificate: string) {
    this.#context = context;
    this.#certificate = certificate;
    this.#queue = new WorkQueue({ clock: context.world.clock, limiter: new KeyedBackoff(backoff) });
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#queue.close(), { once: true });
    if (signal.aborted) return;
    const listed = [this.#followNamespaces(signal), this.#followPublished(signal)];
    await Promise.all(listed.map(({ isListed }) => isListed));
    await Promise.all(Array.from({ length: workers }, () => this.#work(signal)));
    await Promise.all(listed.map(({ ended }) => ended));
  }

  #followNamespaces(signal: AbortSignal): Following {
    const keep = ({ metadata: { name = '', deletionTimestamp } }: KubernetesObject) => {
      if (deletionTimestamp === undefined) this.#namespaces.add(name);
      else this.#namespaces.delete(name);
      this.#queue.add(name);
    };
    return follow(this.#context, namespaces, { metadataOnly: true }, signal, {
      replace: (objects) => {
        this.#namespaces.clear();
        objects.forEach(keep);
      },
      change: keep,
      remove: ({ metadata }) => this.#namespaces.delete(metadata.name ?? ''),
    });
  }

  #followPublished(signal: AbortSignal): Following {
    const keep = ({ metadata: { namespace = '' }, data }: ConfigMap) => {
      this.#published.set(namespace, data?.[certificateKey] ?? '');
      this.#queue.add(namespace);
    };
    return follow(this.#context, configMaps, { fieldSelector: `metadata.name=${configMapName}` }, signal, {
      replace: (objects) => {
        this.#published.clear();
        objects.forEach(keep);
        for (const namespace of this.#namespaces) this.#queue.add(namespace);
      },
      change: keep,
      remove: ({ metadata: { namespace = '' } }) => {
        this.#published.delete(namespace);
        this.#queue.add(namespace);
      },
    });
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let name = await this.#queue.take(); name !== undefined; name = await this.#queue.take()) {
      try {
        await this.#publish(name, signal);
        this.#queue.forget(name);
      } catch (error) {
        if (!signal.aborted) {
          this.#context.log.warn('root certificate not published', { namespace: name, error: String(error) });
          this.#queue.retry(name);
        }
      }
      this.#queue.done(name);
    }
  }

  async #publish(namespace: string, signal: AbortSignal): Promise<void> {
    if (!this.#namespaces.has(namespace) || this.#published.get(namespace) === this.#certificate) return;
    const { client } = this.#context;
    const wanted = configMapOf(namespace, this.#certificate);
    try {
      await client.create(configMaps, wanted, { signal });
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      if (!isStatusError(error, 'AlreadyExists')) throw error;
      const patch = { type: 'merge', body: { data: wanted.data } } as const;
      await client.patch(configMaps, { namespace, name: configMapName }, patch, { signal });
    }
  }
}

interface Following {
  readonly isListed: Promise<void>;
  readonly ended: Promise<void>;
}

/** Runs a reflector; `isListed` resolves with the first list, or when the reflector has ended without one. */
function follow<T extends KubernetesObject>(
  { client, world, log }: ComponentContext,
  type: Parameters<typeof runReflector<T>>[0]['type'],
  selection: Parameters<typeof runReflector<T>>[0]['selection'],
  signal: AbortSignal,
  sink: Pick<ReflectorSink<T>, 'replace' | 'change' | 'remove'>,
): Following {
  let onListed = (): void => undefined;
  const firstList = new Promise<void>((resolve) => {
    onListed = resolve;
  });
  const whole: ReflectorSink<T> = {
    ...sink,
    replace: (...list) => {
      sink.replace(...list);
      onListed();
    },
    progress: () => undefined,
    problem: (error, restMs) => log.debug('watch failed', { resource: type.plural, restMs, error: String(error) }),
  };
  const ended = runReflector<T>({ client, world, type, selection, usesWatchList: false, sink: whole }, signal);
  return { isListed: Promise.race([firstList, ended]), ended };
}

function configMapOf(namespace: string, certificate: string): ConfigMap {
  const description =
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: configMapName, annotations: { 'kubernetes.io/description': description } },
    data: { [certificateKey]: certificate },
  };
}
