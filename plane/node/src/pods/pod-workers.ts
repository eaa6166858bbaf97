import { formatKey, keyOf, type ObjectKey, type Pod } from '@castellan/machinery';
import { podsOfNode } from './pod-directory.js';
import type { PodHost } from './pod-host.js';
import { removeOrphan } from './pod-sandbox.js';
import { PodWorker } from './pod-worker.js';

/** One worker for each pod of this node, by uid: a pod of the same name that comes after is another one. */
export class PodWorkers {
  readonly #host: PodHost;
  readonly #workers = new Map<string, PodWorker>();
  #hasTakenOver = false;
  #isClosed = false;

  constructor(host: PodHost) {
    this.#host = host;
  }

  /** What the API server has under a name now. */
  update(key: ObjectKey, pod: Pod | undefined): void {
    if (this.#isClosed) return;
    const name = formatKey(key);
    for (const worker of this.#workers.values()) {
      if (formatKey(keyOf(worker.pod)) === name && worker.uid !== pod?.metadata.uid) worker.update(undefined);
    }
    if (pod === undefined || pod.spec?.nodeName !== this.#host.nodeName) return;
    const uid = pod.metadata.uid ?? '';
    const known = this.#workers.get(uid);
    if (known !== undefined) {
      known.update(pod);
      return;
    }
    const worker = new PodWorker(this.#host, pod, (ended) => this.#workers.delete(ended.uid));
    this.#workers.set(uid, worker);
    worker.wake();
  }

  /** A ConfigMap or Secret is not what it was. */
  sourceChanged(kind: 'ConfigMap' | 'Secret', { namespace, name }: ObjectKey): void {
    for (const worker of this.#workers.values()) {
      if (worker.pod.metadata.namespace === namespace) worker.sourceChanged(kind, name);
    }
  }

  all(): readonly PodWorker[] {
    return [...this.#workers.values()];
  }

  find(key: ObjectKey): PodWorker | undefined {
    const name = formatKey(key);
    const found = [...this.#workers.values()].filter((worker) => formatKey(keyOf(worker.pod)) === name);
    return found.at(-1);
  }

  /** Once, when every pod of the API server is known: all are worked on, and what is on disk and is none of them ends. */
  async takeOver(pods: readonly Pod[]): Promise<void> {
    if (this.#hasTakenOver || this.#isClosed) return;
    this.#hasTakenOver = true;
    for (const pod of pods) this.update(keyOf(pod), pod);
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    for (const { directory } of podsOfNode(this.#host.dataDirectory, this.#host.nodeName)) {
      const uid = directory.uid;
      if (uids.has(uid) || this.#workers.has(uid)) continue;
      this.#host.log.info('removing a pod that the API server no longer has', { uid });
      await removeOrphan(this.#host, directory);
    }
  }

  /** Leaves all pods as they are. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#workers.values()].map((worker) => worker.close()));
    this.#workers.clear();
  }
}
