import { isStatusError } from '@castellan/machinery';

/** What the exit status of `castellan` says. Finer reasons are in the error's code. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  deadline: 6,
  precondition: 7,
} as const;

export interface ErrorDescription {
  readonly exitCode: number;
  /** When it happens, for the reference page. */
  readonly summary: string;
  /** What a person can do; used when the place that fails knows nothing better. */
  readonly next: string;
}

/** Every failure that the command line program expects. docs/errors.md is made from this table. */
export const errorTable = {
  USAGE: {
    exitCode: exitCodes.usage,
    summary: 'The command, an option or its value is not known.',
    next: 'see `castellan COMMAND --help`',
  },
  UNKNOWN_OPERATOR: {
    exitCode: exitCodes.usage,
    summary: '`--operators` names an operator that this version does not have.',
    next: 'take names from the list in the message, or `none`',
  },
  NOT_YAML: {
    exitCode: exitCodes.usage,
    summary: 'A manifest is not YAML. The message names file, line and column.',
    next: 'correct the line that is named',
  },
  NOT_AN_OBJECT: {
    exitCode: exitCodes.usage,
    summary: 'A document of a manifest is not a Kubernetes object: `apiVersion`, `kind` or `metadata.name` is missing.',
    next: 'add the field that is named',
  },
  FILE_NOT_READABLE: {
    exitCode: exitCodes.notFound,
    summary: 'A file named on the command line cannot be read.',
    next: 'check the path and its permissions',
  },
  NO_PLANE: {
    exitCode: exitCodes.notFound,
    summary: 'No plane runs on the data directory.',
    next: '`castellan up --detach`, or `--data-dir DIR` (or CASTELLAN_HOME) for the plane you mean',
  },
  UNKNOWN_KIND: {
    exitCode: exitCodes.notFound,
    summary: 'The API server serves no such `apiVersion` and `kind`.',
    next: 'check both for spelling; for a custom resource, see that its operator runs (`castellan up --operators`)',
  },
  OBJECT_NOT_FOUND: {
    exitCode: exitCodes.notFound,
    summary: 'The API server has no such object or namespace.',
    next: '`castellan status` lists what there is',
  },
  REFUSED: {
    exitCode: exitCodes.failed,
    summary: 'The API server refused an object. The message has one line for each field that is wrong.',
    next: 'correct the fields that are named; nothing was changed',
  },
  NOT_PLANNABLE: {
    exitCode: exitCodes.usage,
    summary: '`plan` was given an object that no operator here plans for.',
    next: 'give a manifest of a kind named in the message',
  },
  BLOCKED: {
    exitCode: exitCodes.failed,
    summary: 'The operator cannot go on without a person. The message says why.',
    next: 'do what the message says',
  },
  NOT_CONNECTED: {
    exitCode: exitCodes.failed,
    summary: 'The API server did not answer.',
    next: '`castellan status`, then the log file in the data directory',
  },
  START_FAILED: {
    exitCode: exitCodes.failed,
    summary: 'The plane did not start, or a part of it failed while it ran.',
    next: 'read the log lines above; `castellan doctor` checks the machine',
  },
  STOP_FAILED: {
    exitCode: exitCodes.failed,
    summary: 'Something of the plane could not be stopped or removed. The message names it.',
    next: '`castellan down` again; then end what is named by hand',
  },
  DEADLINE: {
    exitCode: exitCodes.deadline,
    summary: 'Something took longer than it may. The message says what was waited for.',
    next: '`castellan status` shows the reason of each thing that is not ready',
  },
  PORT_IN_USE: {
    exitCode: exitCodes.precondition,
    summary: 'Another process, or the plane of another data directory, listens on the port.',
    next: 'choose another with `--port N` (0: any free one), or end that process',
  },
  STORAGE_NOT_AVAILABLE: {
    exitCode: exitCodes.precondition,
    summary: 'The etcd cluster that `--storage` names does not answer, or refuses to. The message says why.',
    next: 'check with `etcdctl --endpoints HOST:PORT endpoint health`; without `--storage` nothing else is needed',
  },
  STORAGE_MISMATCH: {
    exitCode: exitCodes.precondition,
    summary: "`--storage` names another place than the one where the data directory's objects are.",
    next: 'leave `--storage` out, or choose another data directory with `--data-dir DIR`',
  },
  ENCRYPTION: {
    exitCode: exitCodes.precondition,
    summary:
      'The file of `--encryption-provider-config` cannot be used, or objects are stored with a key that it does not have.',
    next: 'give the file whose keys were used to write the objects; the message names file or key',
  },
  NO_IMAGE: {
    exitCode: exitCodes.failed,
    summary:
      'An archive is no image for this machine or is damaged, or a registry did not give the image. The message says why.',
    next: '`docker save NAME -o FILE` where the image is, then `castellan image load FILE`',
  },
  MACHINE_NOT_READY: {
    exitCode: exitCodes.precondition,
    summary: 'The machine lacks something that pods need. The message names it.',
    next: 'do what the message says, then `castellan doctor`',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>;

export type ErrorCode = keyof typeof errorTable;

/** An expected failure: what went wrong and why, with a next step. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: ErrorCode;
  readonly next: string;

  constructor(code: ErrorCode, message: string, options: { readonly next?: string; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.next = options.next ?? errorTable[code].next;
  }

  get exitCode(): number {
    return errorTable[this.code].exitCode;
  }
}

/** What a command may fail with, as an error of the table; a bug stays what it is. */
export function toCliError(error: unknown): CliError | undefined {
  if (error instanceof CliError) return error;
  if (isStatusError(error)) {
    const code = error.code === 404 ? 'OBJECT_NOT_FOUND' : 'REFUSED';
    return new CliError(code, error.message, { cause: error });
  }
  // Told apart by name: the program starts without loading the client that this class is in.
  if (error instanceof Error && error.name === 'ConnectionError') {
    const isRefused = 'failure' in error && error.failure === 'refused';
    return isRefused
      ? new CliError('NO_PLANE', 'No plane runs here: nothing answers at the address of its kubeconfig.', {
          cause: error,
        })
      : new CliError('NOT_CONNECTED', error.message, { cause: error });
  }
  if (error instanceof Error && error.name === 'DeadlineError') {
    return new CliError('DEADLINE', error.message, { cause: error });
  }
  return undefined;
}
