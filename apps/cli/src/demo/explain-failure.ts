import type { Client } from '@castellan/client';
import type { ObjectKey } from '@castellan/machinery';
import type { Context } from '../context.js';
import { filesIn } from '../data-directory.js';
import { CliError, toCliError } from '../errors.js';
import { readText } from '../plane/connect-to-plane.js';
import { lastLogLines } from '../plane/plane-log.js';
import { observeInstance } from './progress.js';

const shownLogLines = 10;

/**
 * The same failure with the object that is to blame, its reason and its last log lines, and what to try next. When every
 * member that there is is well, the log is that of the plane, where the operator says what it does.
 */
export async function explainFailure(
  failure: unknown,
  { dataDirectory, programName }: Context,
  { client, key }: { readonly client: Client; readonly key: ObjectKey & { readonly namespace: string } },
): Promise<unknown> {
  const expected = toCliError(failure);
  if (expected === undefined) return failure;
  const { kubeconfig, log } = filesIn(dataDirectory);
  const sighting = await observeInstance(client, key).catch(() => undefined); // The plane may be what has failed.
  const culprit = sighting?.view.members.find(({ isReady }) => !isReady);
  const again = `${programName} up --detach --data-dir ${dataDirectory}`;
  if (culprit === undefined) {
    return new CliError(expected.code, withLines(expected.message, log, lastLogLines(log, shownLogLines)), {
      next: `${again} && ${programName} status --data-dir ${dataDirectory}`,
      cause: failure,
    });
  }
  const pod = `${key.namespace}/${culprit.name}`;
  const message = `${expected.message}\npod ${pod}: ${culprit.state}`;
  return new CliError(expected.code, withLines(message, `pod ${pod}`, await lastPodLines(client, key, culprit.name)), {
    next: `${again} && kubectl --kubeconfig ${kubeconfig} -n ${key.namespace} describe pod ${culprit.name}`,
    cause: failure,
  });
}

async function lastPodLines(
  client: Client,
  { namespace }: { readonly namespace: string },
  pod: string,
): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log?tailLines=${shownLogLines}`;
  const log = await readText(client, path).catch(() => undefined);
  return log?.status === 200 ? log.text.trimEnd().split('\n') : ['(it has no log)'];
}

function withLines(message: string, source: string, lines: readonly string[]): string {
  return [message, `the last log lines of ${source}:`, ...lines.map((line) => `    ${line}`)].join('\n');
}
