import type { FieldError } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { ApiObject } from '../json.js';
import type { User } from '../server/http.js';

/**
 * What one kind has of its own in the write path. A kind without any of it is a plain record: its row in the table of
 * kinds is all there is. Functions never change their argument.
 */
export interface Strategy {
  /** Fills in what the client left out; before validation, on create and on update. */
  withDefaults?(object: ApiObject): ApiObject;
  prepareForCreate?(object: ApiObject, context: WriteContext): ApiObject | Promise<ApiObject>;
  /** Not called for writes of a subresource. */
  prepareForUpdate?(object: ApiObject, current: ApiObject, context: WriteContext): ApiObject | Promise<ApiObject>;
  /** Whoever creates an object may say its status at once (nodes). */
  readonly keepsStatusOnCreate?: boolean;
  /** The rules that hold for every object of the kind; `current` is what an update replaces. */
  validate?(object: ApiObject, current?: ApiObject, warn?: Warn): FieldErrors | Promise<FieldErrors>;
  /** The rules that compare an object with what it was. */
  validateUpdate?(object: ApiObject, current: ApiObject): readonly FieldError[];
  /** The rules that a write of another subresource of the object has beside `validate`. */
  validatePart?(object: ApiObject, current: ApiObject, subresource: string): readonly FieldError[];
  /** The object as it is there, with what else than its status a write of the status subresource must not change. */
  prepareForStatus?(object: ApiObject, current: ApiObject, context: WriteContext): ApiObject;
  /** The rules of a write of the status subresource; `validate` and `validateUpdate` otherwise do not see status. */
  validateStatus?(object: ApiObject, current: ApiObject, warn?: Warn): FieldErrors | Promise<FieldErrors>;
  /** What is wrong with the name, as upstream says it. Default: it must be a DNS subdomain. */
  nameProblems?(name: string): readonly string[];
  /** What a client should hear of an object that is accepted. */
  warnings?(object: ApiObject, current?: ApiObject): readonly string[];
  /** Called when a write is over, to give back what the prepare functions took and what the object no longer has. */
  settle?(outcome: WriteOutcome, context: WriteContext): Promise<void>;
  /** Seconds between a delete and its end; 0 = at once. Absent for kinds that know no grace. */
  gracePeriodSeconds?(object: ApiObject, requested: number | undefined): number;
  /** Whether an object that is being deleted is gone once it holds no more finalizers. Default: always. */
  mayVanish?(object: ApiObject): boolean;
  /** Called when an object was created or changed by a client, of itself or of a subresource. */
  afterWritten?(object: ApiObject): void;
  /** Called when a delete has marked an object that is still there. */
  afterMarked?(object: ApiObject): void;
  /** How an object that cannot vanish yet is marked; the default sets deletionTimestamp alone. */
  prepareForDelete?(object: ApiObject, context: WriteContext): ApiObject;
}

/** What the store held before a write and what it holds after it; neither where nothing was written. */
export interface WriteOutcome {
  readonly before?: ApiObject;
  readonly after?: ApiObject;
}

type FieldErrors = readonly FieldError[];

/** Tells the client what is odd about an object that is accepted. */
type Warn = (warning: string) => void;

export interface WriteContext {
  readonly world: World;
  readonly isDryRun: boolean;
  readonly user: User;
  readonly writer: FieldWriter;
  /** Tells the client what is odd about an object that is accepted. Absent: nobody listens. */
  warn?(warning: string): void;
}

/** Who becomes the owner of the fields that are written, and whether by server-side apply. */
export interface FieldWriter {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
}

export function timestamp(world: World): string {
  return timestampOf(world.clock.now());
}

/** RFC 3339 in UTC, whole seconds: metav1.Time. */
export function timestampOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}
