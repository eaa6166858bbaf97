import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageUser } from '../images/image.js';
import { readRecord, writeRecord } from '../sandbox/record-file.js';
import type { GivenResources } from './container-resources.js';
import type { PodFailure } from './pod-failure.js';

/** What is written down of a pod before anything of it is made. */
export interface PodRecord {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the machine's nodes the one that the pod is bound to. */
  readonly node: string;
  /** The pod's place in the plane's network: its address follows from it and stays over restarts. */
  readonly networkIndex: number;
  readonly startedAtMs: number;
}

/** What is written down of one start of a container before it is carried out. */
export interface RunRecord {
  readonly container: string;
  /** Counts starts from 0. */
  readonly number: number;
  readonly image: string;
  readonly imageId: string;
  /** As whom the image runs; root when absent. */
  readonly imageUser?: ImageUser;
  readonly startedAtMs: number;
  readonly backoffMs: number;
  readonly cgroups: readonly string[];
  readonly resources?: GivenResources;
  /** When it fails without a message of its own, the end of its log is taken for one. */
  readonly messageFromLog?: boolean;
  /** Asks its program to end; SIGTERM when absent. */
  readonly stopSignal?: NodeJS.Signals;
}

/** A pod's files: `pod.json`, `failure.json` once it has failed, `volumes/NAME`, `containers/NAME/NUMBER`. They are removed with the pod. */
export class PodDirectory {
  readonly uid: string;
  readonly path: string;

  constructor(dataDirectory: string, uid: string) {
    this.uid = uid;
    this.path = join(podsDirectory(dataDirectory), uid);
  }

  get volumes(): string {
    return join(this.path, 'volumes');
  }

  read(): PodRecord | undefined {
    const record = readRecord(join(this.path, 'pod.json'));
    return isPodRecord(record) ? record : undefined;
  }

  write(record: PodRecord): void {
    mkdirSync(this.path, { recursive: true });
    writeRecord(join(this.path, 'pod.json'), record);
  }

  readFailure(): PodFailure | undefined {
    const record = readRecord(join(this.path, 'failure.json'));
    if (!isObject(record) || typeof record.reason !== 'string') return undefined;
    return { reason: record.reason, message: String(record.message ?? '') };
  }

  writeFailure(failure: PodFailure): void {
    mkdirSync(this.path, { recursive: true });
    writeRecord(join(this.path, 'failure.json'), failure);
  }

  runDirectory(container: string, number: number): string {
    return join(this.path, 'containers', container, String(number));
  }

  readRun(container: string, number: number): RunRecord | undefined {
    const record = readRecord(join(this.runDirectory(container, number), 'run.json'));
    return isRunRecord(record) ? record : undefined;
  }

  writeRun(record: RunRecord): void {
    const directory = this.runDirectory(record.container, record.number);
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
    writeRecord(join(directory, 'run.json'), record);
  }

  /** A record of a start that is there has changed. */
  updateRun(record: RunRecord): void {
    writeRecord(join(this.runDirectory(record.container, record.number), 'run.json'), record);
  }

  containers(): readonly string[] {
    return listDirectory(join(this.path, 'containers'));
  }

  /** Ascending. */
  runNumbers(container: string): readonly number[] {
    return listDirectory(join(this.path, 'containers', container))
      .map(Number)
      .filter(Number.isInteger)
      .sort((a, b) => a - b);
  }

  removeRun(container: string, number: number): void {
    rmSync(this.runDirectory(container, number), { recursive: true, force: true });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Every pod that has files, whichever of the machine's nodes it is on. */
export function podsOnDisk(dataDirectory: string): readonly PodDirectory[] {
  return listDirectory(podsDirectory(dataDirectory)).map((uid) => new PodDirectory(dataDirectory, uid));
}

/** Those of one node, with their records. */
export function podsOfNode(
  dataDirectory: string,
  node: string,
): readonly { readonly directory: PodDirectory; readonly record: PodRecord }[] {
  return podsOnDisk(dataDirectory).flatMap((directory) => {
    const record = directory.read();
    return record?.node === node ? [{ directory, record }] : [];
  });
}

const suspendedFile = 'suspended';

/** Marks every container that runs as stopped by the plane and not by itself: the next start takes it up again. */
export function suspendRuns(dataDirectory: string): void {
  for (const pod of podsOnDisk(dataDirectory)) {
    for (const container of pod.containers()) {
      const number = pod.runNumbers(container).at(-1);
      const directory = number === undefined ? undefined : pod.runDirectory(container, number);
      if (directory === undefined || existsSync(join(directory, 'state/exit'))) continue;
      writeFileSync(join(directory, suspendedFile), '');
    }
  }
}

export function isSuspended(runDirectory: string): boolean {
  return existsSync(join(runDirectory, suspendedFile));
}

function podsDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'pods');
}

function listDirectory(path: string): readonly string[] {
  return existsSync(path) ? readdirSync(path) : [];
}

function isPodRecord(value: unknown): value is PodRecord {
  return (
    isObject(value) &&
    typeof value.uid === 'string' &&
    typeof value.namespace === 'string' &&
    typeof value.name === 'string' &&
    typeof value.node === 'string' &&
    typeof value.networkIndex === 'number' &&
    typeof value.startedAtMs === 'number'
  );
}

function isRunRecord(value: unknown): value is RunRecord {
  return (
    isObject(value) &&
    typeof value.container === 'string' &&
    typeof value.number === 'number' &&
    typeof value.image === 'string' &&
    typeof value.imageId === 'string' &&
    typeof value.startedAtMs === 'number' &&
    typeof value.backoffMs === 'number' &&
    Array.isArray(value.cgroups)
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
