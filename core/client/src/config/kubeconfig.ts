import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../errors.js';
import type { ClusterConfig } from './cluster-config.js';

/**
 * The cluster and user of a kubeconfig's current context, or of `context`. Takes a path, or the text itself (it has more
 * than one line). Relative file names in it count from its own directory. Users of exec plugins and auth providers are not
 * supported and are refused by name.
 */
export async function loadKubeconfig(pathOrText: string, context?: string): Promise<ClusterConfig> {
  const isText = pathOrText.includes('\n');
  const source = isText ? 'the kubeconfig' : pathOrText;
  const text = isText ? pathOrText : await readText(pathOrText, 'Name another with --kubeconfig or KUBECONFIG.');
  // Imported here because most processes start without a kubeconfig, or want to be quick before they read one.
  const { parse } = await import('yaml');
  let document: unknown;
  try {
    document = parse(text);
  } catch (cause) {
    throw new ConfigError(`${source} is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
  const directory = isText ? process.cwd() : dirname(resolve(pathOrText));
  return clusterConfigOf(document, { source, directory, context });
}

interface Origin {
  readonly source: string;
  readonly directory: string;
  readonly context: string | undefined;
}

async function clusterConfigOf(document: unknown, { source, directory, context }: Origin): Promise<ClusterConfig> {
  const contextName = context ?? text(document, 'current-context');
  if (contextName === undefined) throw new ConfigError(`${source} has no current-context; name a context`);
  const chosen = named(document, 'contexts', contextName, 'context', source);
  const clusterName = text(chosen, 'cluster') ?? '';
  const cluster = named(document, 'clusters', clusterName, 'cluster', source);
  const server = text(cluster, 'server');
  if (server === undefined) throw new ConfigError(`cluster "${clusterName}" in ${source} has no server address`);
  const userName = text(chosen, 'user');
  const user = userName === undefined || userName === '' ? {} : named(document, 'users', userName, 'user', source);
  for (const field of ['exec', 'auth-provider', 'username']) {
    if (field in user) {
      throw new ConfigError(
        `user "${userName}" in ${source} authenticates with "${field}", which is not supported; use a client certificate or a token`,
      );
    }
  }
  const pem = (entry: Fields, field: string): Promise<string | undefined> => pemOf(entry, field, directory);
  const tokenFile = text(user, 'tokenFile');
  return withoutAbsent({
    server,
    caCertificate: await pem(cluster, 'certificate-authority'),
    clientCertificate: await pem(user, 'client-certificate'),
    clientKey: await pem(user, 'client-key'),
    token: text(user, 'token'),
    tokenFile: tokenFile === undefined ? undefined : resolve(directory, tokenFile),
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'] === true ? true : undefined,
    namespace: text(chosen, 'namespace'),
  });
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown, field: string): string | undefined {
  const found = isFields(value) ? value[field] : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The entry of a kubeconfig's named list: `{ name, cluster: { … } }`. */
function named(document: unknown, list: string, name: string, field: string, source: string): Fields {
  const entries = isFields(document) ? document[list] : undefined;
  const known = Array.isArray(entries) ? entries.filter(isFields) : [];
  const found = known.find((entry) => entry.name === name)?.[field];
  if (isFields(found)) return found;
  const names = known.map((entry) => `"${String(entry.name)}"`).join(', ');
  throw new ConfigError(`${source} has no ${field} "${name}"; its ${list} are: ${names === '' ? 'none' : names}`);
}

/** `<field>-data` in base64 wins over the file named by `<field>`, as in kubectl. */
async function pemOf(entry: Fields, field: string, directory: string): Promise<string | undefined> {
  const data = text(entry, `${field}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const file = text(entry, field);
  return file === undefined ? undefined : readText(resolve(directory, file), `It is the kubeconfig's ${field}.`);
}

async function readText(path: string, hint: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(
      `${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}. ${hint}`,
      { cause },
    );
  }
}

type Absentable<T> = { readonly [K in keyof T]: T[K] | undefined };

function withoutAbsent(
  config: Absentable<Required<Omit<ClusterConfig, 'server'>>> & { readonly server: string },
): ClusterConfig {
  return Object.fromEntries(
    Object.entries(config).filter(([, value]) => value !== undefined),
  ) as unknown as ClusterConfig;
}
