import { constants } from 'node:os';
import type { Container, Pod } from '@castellan/machinery';
import type { World } from '@castellan/world';
import { portNumber } from './probe-check.js';
import { requestOf, sendRequest } from './probe-http.js';
import type { ProbeTarget } from './probe-target.js';

type Handler = NonNullable<NonNullable<Container['lifecycle']>['postStart']>;

export interface HookPlace {
  readonly world: World;
  readonly pod: Pod;
  readonly container: Container;
  readonly target: ProbeTarget;
}

/** A command that runs for longer than a day is not waited for. */
const longestMs = 24 * 60 * 60 * 1000;
const httpDeadlineMs = 60_000;

/**
 * Runs a hook to its end. Rejects with kubelet's words when it failed. As upstream: any answer over HTTP is a success,
 * and tcpSocket, which the API keeps for old manifests only, always fails.
 */
export async function runHook(handler: Handler, place: HookPlace, signal: AbortSignal): Promise<void> {
  const { world, target, container } = place;
  if (handler.exec !== undefined) {
    const command = handler.exec.command ?? [];
    const { exitCode, stdout, stderr } = await target.execute(command, longestMs, signal);
    if (exitCode === 0) return;
    const why = `command '${command.join(' ')}' exited with ${exitCode}: ${stderr}`;
    throw failure(`Exec lifecycle hook (${formatWords(command)})`, place, { why, output: `${stdout}${stderr}` });
  }
  if (handler.httpGet !== undefined) {
    const { httpGet } = handler;
    const request = requestOf(httpGet, target.podIp, portNumber(httpGet.port, container));
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(httpDeadlineMs)]);
    await sendRequest(request, deadline).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw failure(`HTTP lifecycle hook (${httpGet.path ?? '/'})`, place, { why, output: '' });
    });
    return;
  }
  if (handler.sleep !== undefined) {
    await world.clock.sleep(handler.sleep.seconds * 1000, signal);
    return;
  }
  throw new Error('Cannot run handler: invalid handler; next: use exec, httpGet or sleep');
}

function failure(
  what: string,
  { pod, container }: HookPlace,
  { why, output }: { readonly why: string; readonly output: string },
): Error {
  const { name, namespace, uid } = pod.metadata;
  const place = `Container "${container.name}" in Pod "${name}_${namespace}(${uid})"`;
  return new Error(`${what} for ${place} failed - error: ${why}, message: ${JSON.stringify(output)}`);
}

/** The signal that asks the container's program to end, where its manifest names one. Younger than the published types. */
export function stopSignalOf({ lifecycle }: Container): NodeJS.Signals | undefined {
  const name: unknown = lifecycle !== undefined && 'stopSignal' in lifecycle ? lifecycle.stopSignal : undefined;
  return isSignal(name) ? name : undefined;
}

function isSignal(name: unknown): name is NodeJS.Signals {
  return typeof name === 'string' && Object.hasOwn(constants.signals, name);
}

/** As Go prints a slice of strings. */
function formatWords(words: readonly string[]): string {
  return `[${words.join(' ')}]`;
}
