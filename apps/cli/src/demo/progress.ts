import type { Client } from '@castellan/client';
import { type EtcdCluster, etcdClusters } from '@castellan/etcd';
import { type Event, events, type ObjectKey, type Pod, pods } from '@castellan/machinery';
import { type World, waitFor } from '@castellan/world';
import { canRead } from '../etcd/gateway.js';
import { type InstanceMember, type InstanceView, instanceLabel, viewInstance } from '../etcd/instance-view.js';
import type { Reporter } from '../output/reporter.js';

const pollMs = 150;

export interface ProgressOptions {
  readonly client: Client;
  readonly world: World;
  readonly reporter: Reporter;
  readonly key: ObjectKey & { readonly namespace: string };
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Identities of the events from before: they are history. */
  readonly oldEvents: ReadonlySet<string>;
}

/** What is known of an instance at one moment. */
export interface Sighting {
  readonly view: InstanceView;
  readonly events: readonly Event[];
}

/**
 * Prints what happens to an instance until all its members are ready and answer: every event, every change of a member, and the
 * operator's reason whenever it waits. Each sentence is printed once.
 */
export async function followUntilAvailable(options: ProgressOptions): Promise<InstanceView> {
  const { world, deadlineMs, signal } = options;
  const narrator = new Narrator(options);
  let last: InstanceView | undefined;
  let silent: readonly InstanceMember[] = [];
  return await waitFor(
    world,
    async () => {
      const sighting = await observeInstance(options.client, options.key);
      if (sighting === undefined) return undefined;
      last = sighting.view;
      narrator.tell(sighting);
      if (!isComplete(sighting.view)) return undefined;
      silent = await silentMembers(sighting.view);
      narrator.tellSilent(silent);
      return silent.length === 0 ? sighting.view : undefined;
    },
    { what: () => describeGap(options.key, last, silent), deadlineMs, everyMs: pollMs, signal },
  );
}

export async function observeInstance(
  client: Client,
  key: ObjectKey & { readonly namespace: string },
): Promise<Sighting | undefined> {
  const { namespace, name } = key;
  const [cluster, podList, eventList]: [
    EtcdCluster | undefined,
    { items: readonly Pod[] },
    { items: readonly Event[] },
  ] = await Promise.all([
    client.find(etcdClusters, key),
    client.list(pods, { namespace, labelSelector: `${instanceLabel}=${name}` }),
    client.list(events, { namespace }),
  ]);
  if (cluster === undefined) return undefined;
  const own = eventList.items.filter(({ involvedObject }) => involvedObject.name?.startsWith(name) === true);
  return { view: viewInstance(cluster, podList.items), events: own.toSorted(byAge) };
}

function byAge(one: Event, other: Event): number {
  return Number(one.metadata.resourceVersion ?? 0) - Number(other.metadata.resourceVersion ?? 0);
}

/** Names an event once more when it has happened once more. */
export function eventIdentity({ metadata, series, count }: Event): string {
  return `${metadata.uid}/${series?.count ?? count ?? 1}`;
}

function isComplete(view: InstanceView): boolean {
  return view.isAvailable && view.ready === view.size && view.members.length === view.size;
}

/** What a resumed plane reads first is what the earlier run wrote last: only the members know whether it holds again. */
async function silentMembers(view: InstanceView): Promise<readonly InstanceMember[]> {
  const asked = view.members.map(async (member) => ((await canRead(member.clientUrl)) ? [] : [member]));
  return (await Promise.all(asked)).flat();
}

function describeGap(
  { namespace, name }: ObjectKey & { readonly namespace: string },
  view: InstanceView | undefined,
  silent: readonly InstanceMember[],
): string {
  if (view === undefined) return `etcdcluster ${namespace}/${name} to be seen`;
  if (silent.length > 0) return `${silent.map((member) => member.name).join(', ')} to answer at its client address`;
  const reason = view.reason === '' ? '' : ` (${view.reason})`;
  return `etcdcluster ${namespace}/${name} to be available: ${view.ready} of ${view.size} members are ready${reason}`;
}

/** What kubelets say of every pod; a member's own lines tell the same in fewer words. */
const everydayReasons = ['Scheduled', 'Pulling', 'Pulled', 'Created', 'Started', 'Killing'];

/** Tells what is new since it told last, each sentence once. */
class Narrator {
  readonly #options: ProgressOptions;
  readonly #startedMs: number;
  readonly #toldEvents: Set<string>;
  readonly #toldSentences: string[] = [];
  readonly #members = new Map<string, string>();
  #reason = '';

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#startedMs = options.world.clock.monotonicNow();
    this.#toldEvents = new Set(options.oldEvents);
  }

  tell({ view, events: seen }: Sighting): void {
    for (const event of seen) this.#tellEvent(event);
    for (const member of view.members) this.#tellMember(member);
    if (view.reason === this.#reason) return;
    this.#reason = view.reason;
    // The reason of a step that was done was told by its event.
    if (!this.#wasTold(view.reason)) this.#say(view.isAvailable ? view.reason : `waits: ${view.reason}`);
  }

  tellSilent(silent: readonly InstanceMember[]): void {
    const names = silent.map(({ name }) => name).join(', ');
    const sentence = `waits: ${names} to answer again`;
    if (names !== '' && !this.#wasTold(sentence)) this.#say(sentence);
  }

  #tellEvent(event: Event): void {
    const identity = eventIdentity(event);
    if (this.#toldEvents.has(identity)) return;
    this.#toldEvents.add(identity);
    const { message = '', reason = '', type, involvedObject } = event;
    if (everydayReasons.includes(reason) || this.#wasTold(message)) return;
    const subject = involvedObject.kind === 'Pod' ? `${involvedObject.name}: ` : '';
    this.#say(`${subject}${message}`, type === 'Warning' ? reason : undefined);
  }

  #tellMember({ name, role, state, isReady }: InstanceMember): void {
    const does = { leader: 'leads', voter: 'votes', learner: 'learns', none: '' }[role];
    const now = [state, isReady ? 'ready' : '', does].filter((word) => word !== '').join(', ');
    if (this.#members.get(name) === now) return;
    this.#members.set(name, now);
    this.#say(`${name}: ${now}`);
  }

  #wasTold(sentence: string): boolean {
    return this.#toldSentences.some((told) => told.includes(sentence));
  }

  /** Members' names begin alike: what they share is left out, which the line above the first of them says. */
  #say(text: string, warning?: string): void {
    this.#toldSentences.push(text);
    const { reporter, world, key } = this.#options;
    const seconds = ((world.clock.monotonicNow() - this.#startedMs) / 1000).toFixed(1).padStart(5);
    const line = `${seconds} s  ${text.replaceAll(`${key.name}-`, '…')}`;
    if (warning === undefined) reporter.line(line, { text });
    else reporter.warn(line, { text, reason: warning });
  }
}
