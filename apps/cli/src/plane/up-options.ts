import { resolve } from 'node:path';
import type { EtcdTlsFiles, NodesWish, Storage } from '@castellan/embedded';
import type { Context, Options } from '../context.js';
import { CliError } from '../errors.js';
import { parseOperators } from './operators.js';

export const defaultPort = 7443;

export interface UpOptions {
  readonly port: number;
  readonly operators: readonly string[];
  /** Controllers and scheduler. Without them there is no node agent either. */
  readonly hasControllers: boolean;
  readonly hasNode: boolean;
  /** How many nodes, and in which zones. What is absent is as it was before. */
  readonly nodes: NodesWish;
  readonly isDetached: boolean;
  /** Absent: where the data directory's objects are. */
  readonly storage: Storage | undefined;
  /** An absolute path. Absent: what the data directory was encrypted with before. */
  readonly encryptionConfiguration: string | undefined;
  /** An absolute path. Absent: no tokens but those of service accounts. */
  readonly tokenAuthFile: string | undefined;
  /** An absolute path. Absent: no audit log is kept. */
  readonly auditLog: string | undefined;
  /** An absolute path. Absent: every request is told of, and no bodies. */
  readonly auditPolicyFile: string | undefined;
  /** A pipe to tell the process that started this one how far it is; see detach.ts. */
  readonly announceTo: number | undefined;
}

export function parseUpOptions(options: Options): UpOptions {
  return {
    port: typeof options.port === 'number' ? options.port : defaultPort,
    operators: parseOperators(typeof options.operators === 'string' ? options.operators : undefined),
    hasControllers: options.controllers !== false,
    hasNode: options.node !== false && options.controllers !== false,
    nodes: parseNodes(options),
    isDetached: options.detach === true,
    storage: parseStorageOptions(options),
    encryptionConfiguration: pathOf(options.encryptionProviderConfig),
    tokenAuthFile: pathOf(options.tokenAuthFile),
    auditLog: pathOf(options.auditLog),
    auditPolicyFile: auditPolicyOf(options),
    announceTo: typeof options.announceTo === 'string' ? Number(options.announceTo) : undefined,
  };
}

/** The plane's pod range is a /20, of which each node has a /24. */
const nodeLimit = 16;

function parseNodes({ nodes, zones }: Options): NodesWish {
  if (typeof nodes === 'number' && nodes > nodeLimit) {
    throw new CliError('USAGE', `--nodes ${nodes}: there is room for ${nodeLimit} nodes on a machine.`);
  }
  const list = typeof zones === 'string' ? zones.split(',') : undefined;
  const wrong = list?.find((zone) => !/^[a-zA-Z0-9]([\w.-]{0,61}[a-zA-Z0-9])?$/.test(zone));
  if (wrong !== undefined) throw new CliError('USAGE', `--zones ${zones}: "${wrong}" is no value of a label.`);
  return {
    ...(typeof nodes === 'number' ? { count: nodes } : {}),
    ...(list === undefined ? {} : { zones: list }),
  };
}

/** As the options that say which nodes there are. */
export function formatNodes({ nodes: { count, zones } }: UpOptions): readonly string[] {
  return [
    ...(count === undefined ? [] : ['--nodes', String(count)]),
    ...(zones === undefined ? [] : ['--zones', zones.join(',')]),
  ];
}

function parseStorageOptions(options: Options): Storage | undefined {
  const storage = typeof options.storage === 'string' ? parseStorage(options.storage) : undefined;
  const tls = parseTls(options);
  if (tls === undefined) return storage;
  if (storage?.type !== 'etcd')
    throw new CliError('USAGE', '--etcd-cafile needs --storage etcd://HOST:PORT[,HOST:PORT…].');
  return { ...storage, tls };
}

function parseTls(options: Options): EtcdTlsFiles | undefined {
  const caFile = pathOf(options.etcdCafile);
  const certificateFile = pathOf(options.etcdCertfile);
  const keyFile = pathOf(options.etcdKeyfile);
  if ((certificateFile === undefined) !== (keyFile === undefined)) {
    throw new CliError('USAGE', '--etcd-certfile and --etcd-keyfile need each other.');
  }
  if (caFile === undefined && keyFile !== undefined)
    throw new CliError('USAGE', '--etcd-certfile needs --etcd-cafile.');
  if (caFile === undefined) return undefined;
  return {
    caFile,
    ...(certificateFile === undefined ? {} : { certificateFile }),
    ...(keyFile === undefined ? {} : { keyFile }),
  };
}

function auditPolicyOf({ auditLog, auditPolicyFile }: Options): string | undefined {
  if (auditPolicyFile !== undefined && auditLog === undefined)
    throw new CliError('USAGE', '--audit-policy-file needs --audit-log FILE.');
  return pathOf(auditPolicyFile);
}

function pathOf(option: unknown): string | undefined {
  return typeof option === 'string' ? resolve(option) : undefined;
}

function parseStorage(text: string): Storage {
  if (text === 'embedded') return { type: 'embedded' };
  const [, list] = /^etcd:\/\/(.*)$/.exec(text) ?? [];
  if (list === undefined) throw new CliError('USAGE', `--storage ${text}: ${neither}`);
  const endpoints = list.split(',');
  const wrong = endpoints.find((endpoint) => !isHostAndPort(endpoint));
  if (wrong !== undefined) throw new CliError('USAGE', `--storage ${text}: "${wrong}" is not HOST:PORT.`);
  return { type: 'etcd', endpoints };
}

const neither = 'this is neither "embedded" nor etcd://HOST:PORT[,HOST:PORT…].';

/** IPv6 addresses are in brackets. */
function isHostAndPort(text: string): boolean {
  const [, port] = /^(?:[^\s:/@[\]]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) > 0 && Number(port) < 65_536;
}

/** As the option is written. */
export function formatStorage(storage: Storage): string {
  return storage.type === 'embedded' ? storage.type : `etcd://${storage.endpoints.join(',')}`;
}

/** As the options that say where the objects are, and how they are sealed. */
export function formatStorageOptions({ storage, encryptionConfiguration }: UpOptions): readonly string[] {
  const { caFile, certificateFile, keyFile } = (storage?.type === 'etcd' ? storage.tls : undefined) ?? {};
  return [
    ...(storage === undefined ? [] : ['--storage', formatStorage(storage)]),
    ...(caFile === undefined ? [] : ['--etcd-cafile', caFile]),
    ...(certificateFile === undefined ? [] : ['--etcd-certfile', certificateFile]),
    ...(keyFile === undefined ? [] : ['--etcd-keyfile', keyFile]),
    ...(encryptionConfiguration === undefined ? [] : ['--encryption-provider-config', encryptionConfiguration]),
  ];
}

/** Only root may make networks for pods; an ordinary user is root in a user namespace of their own. */
export function needsUserNamespace({ isRoot }: Context, { hasNode }: UpOptions): boolean {
  return hasNode && !isRoot;
}
