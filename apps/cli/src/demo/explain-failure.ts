import type { Client } from '@castellan/client';
import type { ObjectKey } from '@castellan/machinery';
import { CliError, toCliError } from '../errors.js';
import { readText } from '../plane/connect-to-plane.js';
import { observeInstance } from './progress.js';

const shownLogLines = 10;

export interface FailureContext {
  readonly client: Client;
  readonly key: ObjectKey & { readonly namespace: string };
  readonly dataDirectory: string;
}

/** The same failure with the object that is to blame, its reason and its last log lines, and what to try next. */
export async function explainFailure(
  failure: unknown,
  { client, key, dataDirectory }: FailureContext,
): Promise<unknown> {
  const expected = toCliError(failure);
  if (expected === undefined) return failure;
  const sighting = await observeInstance(client, key).catch(() => undefined); // The plane may be what has failed.
  const culprit = sighting?.view.members.find(({ isReady }) => !isReady);
  const again = `castellan up --detach --data-dir ${dataDirectory}`;
  if (culprit === undefined) {
    return new CliError(expected.code, expected.message, { next: `${again}, then castellan status`, cause: failure });
  }
  const path = `/api/v1/namespaces/${key.namespace}/pods/${culprit.name}/log?tailLines=${shownLogLines}`;
  const log = await readText(client, path).catch(() => undefined);
  const lines = log?.status === 200 ? log.text.trimEnd().split('\n') : ['(it has no log)'];
  const message = [
    expected.message,
    `pod ${key.namespace}/${culprit.name}: ${culprit.state}`,
    `its last log lines:`,
    ...lines.map((line) => `    ${line}`),
  ].join('\n');
  const describe = `kubectl --kubeconfig ${dataDirectory}/kubeconfig -n ${key.namespace} describe pod ${culprit.name}`;
  return new CliError(expected.code, message, { next: `${again} && ${describe}`, cause: failure });
}
