import type { Context, Options } from '../context.js';
import { CliError } from '../errors.js';
import { parseOperators } from './operators.js';

export const defaultPort = 7443;

export interface UpOptions {
  readonly port: number;
  readonly operators: readonly string[];
  readonly hasNode: boolean;
  readonly isDetached: boolean;
  /** A pipe to tell the process that started this one how far it is; see detach.ts. */
  readonly announceTo: number | undefined;
}

export function parseUpOptions(options: Options): UpOptions {
  const { storage } = options;
  if (typeof storage === 'string' && storage !== 'embedded') refuseStorage(storage);
  return {
    port: typeof options.port === 'number' ? options.port : defaultPort,
    operators: parseOperators(typeof options.operators === 'string' ? options.operators : undefined),
    hasNode: options.node !== false,
    isDetached: options.detach === true,
    announceTo: typeof options.announceTo === 'string' ? Number(options.announceTo) : undefined,
  };
}

function refuseStorage(storage: string): never {
  if (storage.startsWith('etcd://')) {
    throw new CliError(
      'STORAGE_NOT_AVAILABLE',
      `--storage ${storage}: keeping the objects in an etcd cluster is not available in this version.`,
    );
  }
  throw new CliError('USAGE', `--storage ${storage}: this is neither "embedded" nor etcd://HOST:PORT.`);
}

/** Only root may make networks for pods; an ordinary user is root in a user namespace of their own. */
export function needsUserNamespace({ isRoot }: Context, { hasNode }: UpOptions): boolean {
  return hasNode && !isRoot;
}
