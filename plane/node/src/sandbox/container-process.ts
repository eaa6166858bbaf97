// Walk 10/10: a container becomes a real process here: etcd runs, in namespaces of its own, and outlives this program.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, fchownSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireCommand } from './command.js';
import { makeContainerRoot } from './container-root.js';
import { asUser, type ContainerUser, capabilitiesToEnter, rootUser } from './container-user.js';
import { type Helpers, imageHelpers, machineHelpers } from './image-programs.js';
import { hasImageRoot } from './image-root.js';
import { makeOutputsDirectory, type Output, outputPath } from './log-files.js';
import { namespacePath } from './pod-network.js';
import {
  bootId,
  childrenOf,
  descendantsOf,
  identifyProcess,
  isAlive,
  isInNetwork,
  type ProcessIdentity,
  parseStat,
  processesWithArgument,
  programOf,
  signalGroup,
  signalProcess,
} from './process-identity.js';
import { isMissing } from './record-file.js';
import { mountArguments, type RootFileSystem } from './root-file-system.js';

/** Everything that one start of a container needs. */
export interface ContainerLaunch {
  /** Where this start keeps its files: `output/`, `layer/` and `state/`. Its path is what the processes are found by. */
  readonly directory: string;
  /** As `ip netns` shows it. */
  readonly networkNamespace: string;
  readonly hostname: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  readonly root: Omit<RootFileSystem, 'layer'>;
  readonly user?: ContainerUser;
  /** A filter of system calls that the program and all that it starts have, as seccomp(2) takes it. */
  readonly systemCallFilter?: Buffer;
  /** A process among whose processes it runs, in place of processes of its own: to look at what another container does. */
  readonly joins?: ProcessIdentity;
  /** Control groups to join, by directory. */
  readonly cgroups: readonly string[];
  /** How ready the kernel is to kill it when the machine has no memory left: 0 (as this program) to 1000 (first). */
  readonly outOfMemoryScore?: number;
  /** The program reads what is written to `inputPath`, and no end until `endInput`; else it has no input. */
  readonly hasInput: boolean;
}

export type ContainerState =
  | { readonly kind: 'running' }
  /** `exitCode` is absent when nobody was there to see the end: the machine went down, or the supervisor was killed. */
  | { readonly kind: 'exited'; readonly exitCode: number | undefined; readonly finishedAtMs: number };

/**
 * Waits for the container and writes down how it ended, whoever lives by then: the plane may have been killed and
 * started again. Writes its own /proc/PID/stat first (pid and start time), so there is no moment in which a process
 * runs that no record tells of.
 *
 * Whoever writes to the container's input comes and goes; the supervisor holds it open until it is told that no more
 * comes (USR1). The program is then a job in the background, which a shell lets ignore SIGINT: taken back.
 */
const supervisor = `
directory=$1/state; shift
read -r stat </proc/$$/stat
printf '%s\\n' "$stat" >"$directory/process"
run() {
  for group in $CASTELLAN_CGROUPS; do echo 0 >"$group/cgroup.procs"; done
  echo "$CASTELLAN_OOM_SCORE" 2>/dev/null >/proc/self/oom_score_adj
  [ -n "$CASTELLAN_JOINS" ] && exec 6<"/proc/$CASTELLAN_JOINS/ns/pid"
  [ -e "$directory/filter" ] && exec 7<"$directory/filter"
  exec "$@" 3>"$directory/info" 9<"$directory/args"
}
if [ -p "$directory/stdin" ]; then
  exec 8<>"$directory/stdin"
  trap 'exec 8>&-' USR1
  run env --default-signal=INT,QUIT -- "$@" <"$directory/stdin" 8>&- &
  while wait $!; code=$?; kill -0 $! 2>/dev/null; do :; done
else
  (run "$@")
  code=$?
fi
printf '%s\\n' "$code" >"$directory/exit"
`;

/** A container is made within some 15 ms; a machine that takes longer than all looks is not waited for. */
const lookForStartMs = 2;
const looksForStart = 1_000;

/** One start of a container, running or ended. It lives in its own session and outlives the plane. */
export class ContainerProcess {
  readonly directory: string;
  readonly #networkNamespace: string;

  private constructor(directory: string, networkNamespace: string) {
    this.directory = directory;
    this.#networkNamespace = networkNamespace;
  }

  /** Returns when the container is made, or could not be: that shows as an exit, with the reason in the log. */
  static async start(launch: ContainerLaunch): Promise<ContainerProcess> {
    const { directory } = launch;
    mkdirSync(join(directory, 'state'), { recursive: true });
    const { root, beforehand } = await makeContainerRoot(directory, launch.root, launch.workingDirectory);
    writeFileSync(join(directory, 'state/boot'), bootId());
    // In a file, not on the command line: the environment may hold secrets, and every user sees command lines.
    writeFileSync(join(directory, 'state/args'), joinArguments(isolationArguments(launch, root)), { mode: 0o600 });
    if (launch.systemCallFilter !== undefined) writeFileSync(join(directory, 'state/filter'), launch.systemCallFilter);
    if (launch.joins !== undefined) writeFileSync(join(directory, 'state/joined'), '');
    if (launch.hasInput) await requireCommand('mkfifo', ['-m', '600', join(directory, 'state/stdin')]);
    makeOutputsDirectory(directory);
    const [stdout, stderr] = [openOutput(launch, 'stdout'), openOutput(launch, 'stderr')];
    try {
      const words = ['castellan-container', directory, ...entry(launch, beforehand)];
      const child = spawn('/bin/sh', ['-c', supervisor, ...words], {
        detached: true,
        stdio: ['ignore', stdout, stderr],
        cwd: '/',
        env: {
          PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
          CASTELLAN_CGROUPS: launch.cgroups.join(' '),
          CASTELLAN_JOINS: String(launch.joins?.pid ?? ''),
          CASTELLAN_OOM_SCORE: String(launch.outOfMemoryScore ?? 0),
        },
      });
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
      child.unref();
    } finally {
      closeSync(stdout);
      closeSync(stderr);
    }
    const container = new ContainerProcess(directory, launch.networkNamespace);
    await container.#madeOrExited();
    return container;
  }

  /** Takes over what an earlier process of the plane started. */
  static adopt(directory: string, networkNamespace: string): ContainerProcess {
    return new ContainerProcess(directory, networkNamespace);
  }

  state(): ContainerState {
    const exit = this.#exit();
    if (exit !== undefined) return exit;
    if (this.#supervisor() !== undefined) return { kind: 'running' };
    // It may have written the exit code and ended between the two looks.
    return this.#exit() ?? { kind: 'exited', exitCode: undefined, finishedAtMs: this.#lastSignOfLifeMs() };
  }

  /** The container's first program, as the machine numbers it; `undefined` while it is not up yet or no more. */
  mainProcess(): ProcessIdentity | undefined {
    const launched = this.#launched();
    const main = launched === undefined || this.#isJoined() ? launched?.pid : childrenOf(launched.pid)[0];
    // Until bubblewrap has become the program, it has neither the program's environment nor its signal handlers.
    if (main === undefined || programOf(main)?.endsWith('/bwrap') === true) return undefined;
    return identifyProcess(main);
  }

  /**
   * Pid 1 of the container: bubblewrap's reaper. When it ends, the kernel kills everything in the container. One that has
   * joined another's processes has none of its own.
   */
  initProcess(): ProcessIdentity | undefined {
    return this.#isJoined() ? undefined : this.#launched();
  }

  /** Asks the container's program to end. `false` when there is none to ask. */
  terminate(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    const main = this.mainProcess();
    return main !== undefined && signalProcess(main, signal);
  }

  /** How the machine's helpers are called in the container. */
  get helpers(): Helpers {
    return hasImageRoot(this.directory) ? imageHelpers : machineHelpers;
  }

  /** A named pipe to the program's input; only of a launch that `hasInput`. */
  get inputPath(): string {
    return join(this.directory, 'state/stdin');
  }

  /** The program reads what was written so far, and then the end. */
  endInput(): void {
    const supervisorProcess = this.#supervisor();
    if (supervisorProcess !== undefined) signalProcess(supervisorProcess, 'SIGUSR1');
  }

  /** Ends everything in the container at once, what its program left behind included. */
  kill(): void {
    const init = this.initProcess();
    if (init !== undefined) {
      signalProcess(init, 'SIGKILL');
      return;
    }
    // Not that far yet, or not ours to see: end the launcher, which has no child in a pid namespace so far.
    const supervisorProcess = this.#supervisor();
    if (supervisorProcess === undefined) return;
    const left = this.#isJoined() ? descendantsOf(supervisorProcess.pid) : childrenOf(supervisorProcess.pid);
    for (const pid of left) {
      const launcher = identifyProcess(pid);
      if (launcher !== undefined) signalProcess(launcher, 'SIGKILL');
    }
  }

  /** As a loss of power: the container and its supervisor are gone at once, and nobody has written down how it ended. */
  cut(): void {
    const supervisorProcess = this.#supervisor();
    // Its session has a group of its own, in which are all that it has started, but for what has left it.
    if (supervisorProcess !== undefined) signalGroup(supervisorProcess, 'SIGKILL');
    this.kill();
  }

  /** Whether a supervisor ever ran: if not, the plane ended between its record and the start. */
  wasSupervised(): boolean {
    return this.#read('process') !== undefined || this.#supervisor() !== undefined;
  }

  async #madeOrExited(): Promise<void> {
    for (
      let look = 0;
      look < looksForStart && this.mainProcess() === undefined && this.#exit() === undefined;
      look += 1
    ) {
      await sleep(lookForStartMs);
    }
  }

  /** What bubblewrap has started in the container: its reaper or, where there are other processes already, the program. */
  #launched(): ProcessIdentity | undefined {
    const pid = Number(/"child-pid": (\d+)/.exec(this.#read('info') ?? '')?.[1]);
    return Number.isNaN(pid) || !this.#isOurs(pid) ? undefined : identifyProcess(pid);
  }

  /** A number may have been given to another process since: ours is in our network or, where that is gone, our supervisor's. */
  #isOurs(pid: number): boolean {
    const inode = statSync(namespacePath(this.#networkNamespace), { throwIfNoEntry: false })?.ino;
    if (inode !== undefined && isInNetwork(pid, inode)) return true;
    return descendantsOf(this.#supervisor()?.pid ?? 0).includes(pid);
  }

  #isJoined(): boolean {
    return existsSync(join(this.directory, 'state/joined'));
  }

  #supervisor(): ProcessIdentity | undefined {
    if (this.#read('boot') !== bootId()) return undefined;
    const recorded = parseStat(this.#read('process') ?? '');
    if (recorded !== undefined) return isAlive(recorded) ? recorded : undefined;
    return processesWithArgument(this.directory)[0];
  }

  #exit(): ContainerState | undefined {
    // The line ending tells a whole answer from one that is just being written.
    const text = this.#read('exit');
    if (text === undefined || !text.endsWith('\n')) return undefined;
    const { mtimeMs } = statSync(join(this.directory, 'state/exit'));
    return { kind: 'exited', exitCode: Number(text), finishedAtMs: mtimeMs };
  }

  #lastSignOfLifeMs(): number {
    return Math.max(
      ...['state/args', 'state/process', 'output/stdout', 'output/stderr'].map(
        (name) => statSync(join(this.directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      ),
    );
  }

  #read(name: string): string | undefined {
    try {
      return readFileSync(join(this.directory, 'state', name), 'utf8');
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }
}

/**
 * Appended to by whoever has it, as it grows and as it is cut. It is the container's user's, who may open /dev/stdout anew:
 * a web server whose log that is does so.
 */
function openOutput({ directory, user }: ContainerLaunch, output: Output): number {
  const file = openSync(outputPath(directory, output), 'a', 0o640);
  if (user !== undefined && user.user !== 0) fchownSync(file, user.user, user.group);
  return file;
}

function entry({ networkNamespace, user, command, root }: ContainerLaunch, beforehand: readonly string[]) {
  return [
    ...['nsenter', `--net=${namespacePath(networkNamespace)}`, '--'],
    ...beforehand,
    ...['bwrap', '--args', '9', '--'],
    ...asUser(user ?? rootUser, command, root.image === undefined ? machineHelpers : imageHelpers),
  ];
}

/** A NUL ends an argument: within one, it would let whoever wrote it (into a Secret, say) add arguments of his own. */
function joinArguments(words: readonly string[]): string {
  if (words.some((word) => word.includes('\0'))) {
    throw new Error('a path or a variable of the environment contains a NUL, which no program can be given');
  }
  return words.join('\0');
}

function isolationArguments(launch: ContainerLaunch, root: RootFileSystem): readonly string[] {
  return [
    ...(launch.joins === undefined ? ['--unshare-pid'] : ['--pidns', '6']),
    ...['--unshare-ipc', '--unshare-uts', '--hostname', launch.hostname],
    // Of the supervisor, and within, of bubblewrap: what a program leaves behind ends with it, whoever looks.
    ...['--die-with-parent', '--info-fd', '3'],
    ...mountArguments(root),
    ...['--chdir', launch.workingDirectory],
    ...['--cap-drop', 'ALL', ...capabilitiesToEnter(launch.user ?? rootUser).flatMap((name) => ['--cap-add', name])],
    ...(launch.systemCallFilter === undefined ? [] : ['--seccomp', '7']),
    '--clearenv',
    ...Object.entries(launch.environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}
