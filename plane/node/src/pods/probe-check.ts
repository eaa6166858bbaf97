import { connect } from 'node:net';
import type { Container, Probe } from '@castellan/machinery';
import { checkHealth } from './probe-grpc.js';
import { dialProblem, requestOf, sendRequest } from './probe-http.js';
import type { ProbeTarget } from './probe-target.js';

/** One look at a container. `message` is what kubelet would put in the event. */
export interface ProbeOutcome {
  readonly isSuccess: boolean;
  readonly message: string;
}

type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'>;

const messageLimit = 1024;

/** Never rejects: what goes wrong is a failed look. */
export async function checkProbe(handler: Handler, target: ProbeTarget, deadlineMs: number): Promise<ProbeOutcome> {
  try {
    return await look(handler, target, deadlineMs);
  } catch (error) {
    return { isSuccess: false, message: error instanceof Error ? error.message : String(error) };
  }
}

async function look(handler: Handler, target: ProbeTarget, deadlineMs: number): Promise<ProbeOutcome> {
  const { exec, httpGet, tcpSocket, grpc } = handler;
  if (exec !== undefined) return await checkCommand(exec.command ?? [], target, deadlineMs);
  if (httpGet !== undefined) return await checkHttp(httpGet, target, deadlineMs);
  if (tcpSocket !== undefined) {
    const host = tcpSocket.host ?? target.podIp;
    return await checkTcp(host, portNumber(tcpSocket.port, target.container), deadlineMs);
  }
  if (grpc !== undefined) {
    await checkHealth(`${target.podIp}:${grpc.port}`, grpc.service ?? '', deadlineMs);
    return { isSuccess: true, message: '' };
  }
  return { isSuccess: false, message: `missing probe handler for container "${target.container.name}"` };
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

async function checkHttp(
  get: NonNullable<Handler['httpGet']>,
  target: ProbeTarget,
  deadlineMs: number,
): Promise<ProbeOutcome> {
  const request = requestOf(get, target.podIp, portNumber(get.port, target.container));
  const status = await sendRequest(request, AbortSignal.timeout(deadlineMs));
  const isSuccess = status >= 200 && status < 400;
  return { isSuccess, message: isSuccess ? '' : `HTTP probe failed with statuscode: ${status}` };
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
    socket.once('error', (error) => finish({ isSuccess: false, message: dialProblem(error, `${host}:${port}`) }));
  });
}

/** A number, or the name of one of the container's ports. */
export function portNumber(port: number | string, container: Container): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  const number = named ?? Number(port);
  if (!Number.isInteger(number)) throw new Error(`couldn't find port "${port}" of container "${container.name}"`);
  return number;
}
