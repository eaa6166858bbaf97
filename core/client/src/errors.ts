/**
 * Why no reply came, and what a person can do about it. One row per reason: the message of every ConnectionError ends in
 * its row's next step, and the reference page is made from this table.
 */
export const connectionFailures = {
  refused: {
    means: 'nothing accepts connections at the server address',
    nextStep: 'Check that the API server runs and that the address in the kubeconfig is its address.',
  },
  unknownHost: {
    means: 'the name of the server could not be resolved',
    nextStep: 'Check the host name in the kubeconfig and the DNS settings of this machine.',
  },
  untrusted: {
    means: 'the TLS handshake failed',
    nextStep:
      'Check certificate-authority-data and client-certificate-data in the kubeconfig; they may be of another cluster.',
  },
  broken: {
    means: 'the connection ended before the reply did',
    nextStep: 'The request may or may not have been carried out; read the object again before repeating it.',
  },
  deadline: {
    means: 'no complete reply came within the deadline',
    nextStep:
      'The request may or may not have been carried out; see whether the API server is overloaded or unreachable.',
  },
  malformed: {
    means: 'the reply is not what a Kubernetes API server sends',
    nextStep: 'Check that the address is that of a Kubernetes API server and that no proxy answers in its place.',
  },
  closed: {
    means: 'this client was closed',
    nextStep: 'This is a bug in the caller: it used a client after close().',
  },
} as const;

export type ConnectionFailure = keyof typeof connectionFailures;

/** No (complete) reply came from the server. Whether a write was carried out is not known. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly failure: ConnectionFailure;
  /** The request, as `GET /api/v1/pods`. */
  readonly request: string;
  readonly server: string;
  readonly nextStep: string;

  constructor(
    at: { readonly failure: ConnectionFailure; readonly request: string; readonly server: string },
    cause?: unknown,
  ) {
    const { means, nextStep } = connectionFailures[at.failure];
    const detail = cause instanceof Error ? ` (${cause.message})` : '';
    super(`${at.request} at ${at.server}: ${means}${detail}. ${nextStep}`, cause === undefined ? {} : { cause });
    this.failure = at.failure;
    this.request = at.request;
    this.server = at.server;
    this.nextStep = nextStep;
  }
}

/** Which row of the table an error of node:net, node:tls or node:http2 belongs to. */
export function connectionFailureOf(error: unknown): ConnectionFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'unknownHost';
  if (tlsCodes.some((prefix) => code.startsWith(prefix))) return 'untrusted';
  if (code.startsWith('HPE_')) return 'malformed';
  return 'broken';
}

/** OpenSSL's verification codes have no common prefix; these are the ones that a wrong kubeconfig leads to. */
const tlsCodes = [
  'ERR_TLS_',
  'ERR_SSL_',
  'CERT_',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_',
  'EPROTO',
];

/** A kubeconfig, or the files a pod is given, from which no cluster can be reached. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
