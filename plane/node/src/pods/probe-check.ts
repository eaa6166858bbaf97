import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import type { Container, Probe } from '@castellan/machinery';
import type { CommandResult } from '../sandbox/command.js';

/** One look at a container. `message` is what kubelet would put in the event. */
export interface ProbeOutcome {
  readonly isSuccess: boolean;
  readonly message: string;
}

export interface ProbeTarget {
  readonly podIp: string;
  readonly container: Container;
  execute(command: readonly string[], deadlineMs: number): Promise<CommandResult>;
}

type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'>;

const messageLimit = 1024;

/** Never rejects: what goes wrong is a failed look. */
export async function checkProbe(handler: Handler, target: ProbeTarget, deadlineMs: number): Promise<ProbeOutcome> {
  try {
    if (handler.exec !== undefined) return await checkCommand(handler.exec.command ?? [], target, deadlineMs);
    if (handler.httpGet !== undefined) return await checkHttp(handler.httpGet, target, deadlineMs);
    if (handler.tcpSocket !== undefined) {
      const host = handler.tcpSocket.host ?? target.podIp;
      return await checkTcp(host, portNumber(handler.tcpSocket.port, target.container), deadlineMs);
    }
    return {
      isSuccess: false,
      message: 'this kind of probe is not offered by this node; use exec, httpGet or tcpSocket',
    };
  } catch (error) {
    return { isSuccess: false, message: error instanceof Error ? error.message : String(error) };
  }
}

async function checkCommand(
  command: readonly string[],
  target: ProbeTarget,
  deadlineMs: number,
): Promise<ProbeOutcome> {
  const { exitCode, stdout, stderr, timedOut } = await target.execute(command, deadlineMs);
  if (timedOut)
    return {
      isSuccess: false,
      message: `command timed out: "${command.join(' ')}" timed out after ${deadlineMs / 1000}s`,
    };
  return { isSuccess: exitCode === 0, message: `${stdout}${stderr}`.slice(0, messageLimit) };
}

function checkHttp(
  get: NonNullable<Handler['httpGet']>,
  target: ProbeTarget,
  deadlineMs: number,
): Promise<ProbeOutcome> {
  const isSecure = get.scheme === 'HTTPS';
  const path = get.path ?? '/';
  const options = {
    host: get.host ?? target.podIp,
    port: portNumber(get.port, target.container),
    path: path.startsWith('/') ? path : `/${path}`,
    headers: Object.fromEntries([
      ['User-Agent', 'kube-probe/1.30'],
      ['Connection', 'close'],
      ...(get.httpHeaders ?? []).map(({ name, value }) => [name, value]),
    ]),
    signal: AbortSignal.timeout(deadlineMs),
  };
  return new Promise((resolve) => {
    // As kubelet does, without looking at certificates: a probe asks whether it answers, not who it is.
    const sent = isSecure ? secureRequest({ ...options, rejectUnauthorized: false }) : request(options);
    sent.once('response', (response) => {
      response.resume();
      const { statusCode = 0 } = response;
      const isSuccess = statusCode >= 200 && statusCode < 400;
      resolve({ isSuccess, message: isSuccess ? '' : `HTTP probe failed with statuscode: ${statusCode}` });
    });
    sent.once('error', (error) => {
      const url = `${isSecure ? 'https' : 'http'}://${options.host}:${options.port}${options.path}`;
      resolve({ isSuccess: false, message: `Get "${url}": ${error.message}` });
    });
    sent.end();
  });
}

function checkTcp(host: string, port: number, deadlineMs: number): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: deadlineMs });
    const finish = (outcome: ProbeOutcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once('connect', () => finish({ isSuccess: true, message: '' }));
    socket.once('timeout', () => finish({ isSuccess: false, message: `dial tcp ${host}:${port}: i/o timeout` }));
    socket.once('error', (error) =>
      finish({ isSuccess: false, message: `dial tcp ${host}:${port}: ${error.message}` }),
    );
  });
}

/** A number, or the name of one of the container's ports. */
function portNumber(port: number | string, container: Container): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  const number = named ?? Number(port);
  if (!Number.isInteger(number)) throw new Error(`couldn't find port "${port}" of container "${container.name}"`);
  return number;
}
