import { createHash } from 'node:crypto';
import type { JsonPost, PostReply } from '@castellan/etcd';
import type { Pod } from '@castellan/machinery';
import type { ProcessLife, ProgramOf, RunningProgram, SimulatedContainer } from '@castellan/testkit';
import type { World } from '@castellan/world';
import { type EtcdTruth, quorumOf, type SimulatedMember } from './etcd-truth.js';

const initialStateAnnotation = 'etcd.database.coreos.com/initial-cluster-state';
/** etcd's own interval: a change of the members waits until all voters have been connected for this long. */
const healthIntervalMs = 5_000;
const answerAfterMs = [100, 900] as const;
const electionMs = [1_000, 2_000] as const;
const catchUpMs = [500, 4_000] as const;
const requestMs = [1, 20] as const;

/** What is in a data directory. */
interface Data {
  readonly clusterId: string;
  readonly memberId: string;
}

/** A process of etcd in a simulated pod. */
interface Run {
  readonly container: SimulatedContainer;
  readonly data: Data;
  isUp: boolean;
  upSinceMs: number;
}

class Refused extends Error {}

/**
 * etcd in simulated pods, as far as an operator can tell: members that start by their flags and their data directory, elect, catch
 * up and refuse as etcd 3.5 does, and answer its JSON API. The members of a cluster share one truth, so reads of a
 * minority are never old; and a log is a number.
 */
export class SimulatedEtcd {
  readonly programOf: ProgramOf = (pod, container) =>
    container === 'etcd' ? { start: (started) => this.#start(pod, started) } : undefined;
  /** By cluster ID. */
  readonly clusters = new Map<string, EtcdTruth>();
  /** What must never be, as sentences. */
  readonly violations: string[] = [];
  readonly #runs = new Set<Run>();

  /** Carries requests to the member that has the address, for one life of an operator. */
  postFor(life: ProcessLife): JsonPost {
    return async (url, body, { deadlineMs, signal }) => {
      const { hostname, pathname } = new URL(url);
      await life.world.clock.sleep(between(life.world, requestMs), signal);
      const run = [...this.#runs].find(({ container, isUp }) => isUp && container.podIp === hostname);
      if (run === undefined) throw new Error('connection refused');
      const parsed = JSON.parse(body) as Readonly<Record<string, unknown>>;
      const reply = this.#answer(run, pathname.replace('/v3/', ''), parsed);
      if (reply !== undefined) return reply;
      await life.world.clock.sleep(deadlineMs, signal);
      throw new Error(`no answer in ${deadlineMs} ms`);
    };
  }

  /** What a client of the cluster does: writes a key where there is a leader. `false`: it was not acknowledged. */
  put(key: string): boolean {
    for (const truth of this.clusters.values()) {
      if (truth.leader === undefined) continue;
      truth.keys.add(key);
      truth.logIndex += 1;
      return true;
    }
    return false;
  }

  #start(pod: Pod, container: SimulatedContainer): RunningProgram {
    const data = (container.disk.get('data') as Data | undefined) ?? this.#firstStart(pod, container);
    const truth = data === undefined ? undefined : this.clusters.get(data.clusterId);
    const member = data === undefined ? undefined : truth?.members.get(data.memberId);
    if (data === undefined || truth === undefined || member === undefined) {
      container.world.clock.after(between(container.world, answerAfterMs), () => container.exit(1));
      return {};
    }
    container.disk.set('data', data);
    const run: Run = { container, data, isUp: false, upSinceMs: 0 };
    this.#runs.add(run);
    container.world.clock.after(between(container.world, answerAfterMs), () => {
      if (!this.#runs.has(run)) return;
      run.isUp = true;
      run.upSinceMs = container.world.clock.monotonicNow();
      this.#settle(truth, container.world);
      container.changed();
    });
    return {
      isReady: () => run.isUp && truth.leader !== undefined,
      ended: () => {
        run.isUp = false;
        this.#runs.delete(run);
        this.#settle(truth, container.world);
      },
    };
  }

  /** An empty data directory: what happens is up to the flags. */
  #firstStart(pod: Pod, { name: containerName }: SimulatedContainer): Data | undefined {
    const { command = [] } = pod.spec?.containers.find(({ name }) => name === containerName) ?? {};
    const flag = (name: string) => command.find((part) => part.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
    const name = flag('name');
    const peerUrl = flag('initial-advertise-peer-urls');
    const initial = flag('initial-cluster').split(',').sort();
    if (pod.metadata.annotations?.[initialStateAnnotation] === 'new') {
      return this.#form({ name, peerUrl, token: flag('initial-cluster-token'), initial });
    }
    for (const truth of this.clusters.values()) {
      const listed = [...truth.members.values()];
      const own = listed.find((member) => member.peerUrl === peerUrl);
      const urls = listed.map((member) => member.peerUrl).sort();
      const isSame = JSON.stringify(urls) === JSON.stringify(initial.map((each) => each.replace(/^[^=]*=/, '')).sort());
      if (own === undefined || own.isStarted || !isSame || truth.leader === undefined) continue;
      own.isStarted = true;
      own.name = name;
      return { clusterId: truth.id, memberId: own.id };
    }
    return undefined;
  }

  /** IDs follow from flags, so a seed that is started anew forms a cluster that cannot be told from the first. */
  #form(flags: {
    readonly name: string;
    readonly peerUrl: string;
    readonly token: string;
    readonly initial: readonly string[];
  }): Data {
    const clusterId = idOf(`${flags.token} ${flags.initial.join()}`);
    const memberId = idOf(`${flags.token} ${flags.peerUrl}`);
    const before =
      this.clusters.get(clusterId) ?? [...this.clusters.values()].find(({ token }) => token === flags.token);
    const mattered = before !== undefined && (before.keys.size > 0 || before.members.size > 1);
    if (mattered) this.violations.push(`a second cluster was formed by ${flags.name}`);
    const member = {
      id: memberId,
      name: flags.name,
      peerUrl: flags.peerUrl,
      isLearner: false,
      isStarted: true,
      caughtUpAtMs: 0,
    };
    this.clusters.set(clusterId, {
      id: clusterId,
      token: flags.token,
      members: new Map([[memberId, member]]),
      keys: new Set(),
      leader: undefined,
      term: 1,
      logIndex: 10,
      isElecting: false,
    });
    return { clusterId, memberId };
  }

  /** Deposes a leader that leads no more, and lets those who can elect one. */
  #settle(truth: EtcdTruth, world: World): void {
    if (truth.leader !== undefined && !(this.hasQuorum(truth) && this.#isUp(truth, truth.leader))) {
      truth.leader = undefined;
    }
    if (truth.leader !== undefined || truth.isElecting || !this.hasQuorum(truth)) return;
    truth.isElecting = true;
    world.clock.after(between(world, electionMs), () => {
      truth.isElecting = false;
      const voters = this.upVoters(truth);
      if (!this.hasQuorum(truth)) return;
      truth.leader = voters[Math.floor(world.random.next() * voters.length)]?.id;
      truth.term += 1;
      for (const run of this.#runs) if (run.data.clusterId === truth.id) run.container.changed();
    });
  }

  hasQuorum(truth: EtcdTruth): boolean {
    const voters = votersOf(truth);
    return voters.length > 0 && this.upVoters(truth).length >= quorumOf(voters.length);
  }

  upVoters(truth: EtcdTruth): readonly SimulatedMember[] {
    return votersOf(truth).filter(({ id }) => this.#isUp(truth, id));
  }

  /** The member that runs in a pod and is up. */
  upMemberOf(podName: string): SimulatedMember | undefined {
    const run = [...this.#runs].find(({ container, isUp }) => isUp && container.pod.metadata.name === podName);
    return run && this.clusters.get(run.data.clusterId)?.members.get(run.data.memberId);
  }

  #isUp(truth: EtcdTruth, id: string): boolean {
    return this.#runOf(truth, id) !== undefined;
  }

  #runOf(truth: EtcdTruth, id: string): Run | undefined {
    return [...this.#runs].find(({ isUp, data }) => isUp && data.clusterId === truth.id && data.memberId === id);
  }

  /** `undefined`: no answer comes. */
  #answer(run: Run, path: string, body: Readonly<Record<string, unknown>>): PostReply | undefined {
    const truth = this.clusters.get(run.data.clusterId);
    const self = truth?.members.get(run.data.memberId);
    if (truth === undefined || self === undefined) return undefined;
    const header = { cluster_id: truth.id, member_id: self.id, raft_term: String(truth.term) };
    try {
      if (path === 'maintenance/status') return ok({ header, ...this.#status(truth, self, run) });
      if (self.isLearner) throw new Refused('etcdserver: rpc not supported for learner');
      if (path === 'cluster/member/list') return ok({ header, members: [...truth.members.values()].map(listed) });
      if (truth.leader === undefined) return undefined;
      this.#change(truth, run, path, body);
      return ok({ header });
    } catch (error) {
      if (error instanceof Refused) return { status: 400, body: JSON.stringify({ code: 9, message: error.message }) };
      throw error;
    }
  }

  #status(truth: EtcdTruth, self: SimulatedMember, { container }: Run) {
    const isBehind = self.isLearner && container.world.clock.monotonicNow() < this.#caughtUpAtMs(truth, self);
    const applied = String(isBehind ? 1 : truth.logIndex);
    const image = container.pod.spec?.containers[0]?.image ?? '';
    return {
      ...(truth.leader === undefined ? {} : { leader: truth.leader }),
      ...(self.isLearner ? { isLearner: true } : {}),
      version: image.replace(/^.*:v/, ''),
      raftTerm: String(truth.term),
      raftIndex: String(isBehind ? 1 : truth.logIndex),
      raftAppliedIndex: applied,
    };
  }

  #change(truth: EtcdTruth, run: Run, path: string, body: Readonly<Record<string, unknown>>): void {
    const { world } = run.container;
    switch (path) {
      case 'cluster/member/add':
        this.#add(truth, String((body.peerURLs as readonly string[])[0]), world);
        return;
      case 'cluster/member/promote':
        this.#promote(truth, String(body.ID), world);
        return;
      case 'cluster/member/remove':
        this.#remove(truth, String(body.ID), world);
        return;
      case 'maintenance/transfer-leadership': {
        if (truth.leader !== run.data.memberId) throw new Refused('etcdserver: not leader');
        const to = truth.members.get(String(body.targetID));
        if (to === undefined || to.isLearner) throw new Refused('etcdserver: bad leader transferee');
        if (this.#isUp(truth, to.id)) truth.leader = to.id;
        return;
      }
      default:
        throw new Refused(`etcdserver: ${path} is not simulated`);
    }
  }

  #add(truth: EtcdTruth, peerUrl: string, world: World): void {
    const members = [...truth.members.values()];
    if (members.some((member) => member.peerUrl === peerUrl)) throw new Refused('etcdserver: Peer URLs already exists');
    if (members.some(({ isLearner }) => isLearner)) {
      throw new Refused('etcdserver: too many learner members in cluster');
    }
    if (this.#connected(truth, world).length < votersOf(truth).length)
      throw new Refused('etcdserver: unhealthy cluster');
    const id = idOf(`${truth.id} ${peerUrl} ${world.clock.now()}`);
    truth.members.set(id, { id, name: '', peerUrl, isLearner: true, isStarted: false, caughtUpAtMs: undefined });
    truth.logIndex += 1;
  }

  #promote(truth: EtcdTruth, id: string, world: World): void {
    const member = truth.members.get(id);
    if (member === undefined) throw new Refused('etcdserver: member not found');
    if (!member.isLearner) throw new Refused('etcdserver: can only promote a learner member');
    if (world.clock.monotonicNow() < this.#caughtUpAtMs(truth, member) || !this.#isUp(truth, id)) {
      throw new Refused('etcdserver: can only promote a learner member which is in sync with leader');
    }
    member.isLearner = false;
    truth.logIndex += 1;
    this.#judge(truth, `the promotion of ${member.name}`);
  }

  #remove(truth: EtcdTruth, id: string, world: World): void {
    const member = truth.members.get(id);
    if (member === undefined) throw new Refused('etcdserver: member not found');
    const left = votersOf(truth).filter((other) => other.id !== id);
    if (!member.isLearner) {
      const started = left.filter(({ isStarted }) => isStarted).length;
      if (started < quorumOf(left.length)) {
        throw new Refused('etcdserver: re-configuration failed due to not enough started members');
      }
      const active = this.#connected(truth, world).length;
      if (this.#isUp(truth, id) && active - 1 < quorumOf(left.length))
        throw new Refused('etcdserver: unhealthy cluster');
    }
    truth.members.delete(id);
    truth.logIndex += 1;
    const run = this.#runOf(truth, id);
    // A removed member learns of it and ends.
    run?.container.world.clock.after(100, () => run.container.exit(0));
    this.#judge(truth, `the removal of ${member.name}`);
    this.#settle(truth, world);
  }

  /** A change was made while there was a leader, so there was a quorum before it. */
  #judge(truth: EtcdTruth, what: string): void {
    if (!this.hasQuorum(truth)) {
      const { length } = votersOf(truth);
      this.violations.push(`${what} left ${this.upVoters(truth).length} of ${length} voters up`);
    }
  }

  #connected(truth: EtcdTruth, world: World): readonly SimulatedMember[] {
    const sinceMs = world.clock.monotonicNow() - healthIntervalMs;
    return votersOf(truth).filter(({ id }) => {
      const run = this.#runOf(truth, id);
      return run !== undefined && (run.upSinceMs <= sinceMs || truth.members.size === 1);
    });
  }

  #caughtUpAtMs(truth: EtcdTruth, member: SimulatedMember): number {
    const run = this.#runOf(truth, member.id);
    if (run === undefined) return Number.POSITIVE_INFINITY;
    member.caughtUpAtMs ??= run.upSinceMs + between(run.container.world, catchUpMs);
    return member.caughtUpAtMs;
  }
}

function votersOf(truth: EtcdTruth): readonly SimulatedMember[] {
  return [...truth.members.values()].filter(({ isLearner }) => !isLearner);
}

function listed({ id, name, peerUrl, isLearner }: SimulatedMember) {
  return { ID: id, name, peerURLs: [peerUrl], clientURLs: [], ...(isLearner ? { isLearner } : {}) };
}

function ok(body: object): PostReply {
  return { status: 200, body: JSON.stringify(body) };
}

/** An unsigned 64-bit number, in decimal. */
function idOf(text: string): string {
  return createHash('sha256').update(text).digest().readBigUInt64BE().toString();
}

function between({ random }: World, [least, most]: readonly [number, number]): number {
  return least + random.next() * (most - least);
}
