import { badRequest } from '../errors.js';
import { list, text } from '../json.js';
import { isTrue } from '../request/authorize.js';
import type { KnownExchange } from '../request/exchange.js';
import { statusOf } from '../request/reply.js';
import type { Server } from '../request/server.js';
import { targetContainer } from '../request/target-container.js';
import type { NodeProcess } from '../server/node-streams.js';
import type { CommandOptions, CommandStreams } from './command-streams.js';
import { admitConnection, assertUpgrade, type Connection } from './connect.js';
import { runCommand, upgradeFailure } from './remote-command.js';
import { spdyCommandProtocols, spdyCommandStreams } from './spdy-command.js';
import { chooseVersion, isSpdy, refuseVersions, spdyHeaders } from './spdy-handshake.js';
import { webSocketCommandProtocols, webSocketCommandStreams } from './web-socket-command.js';
import { chooseProtocol, handshakeHeaders, isWebSocket } from './web-socket-handshake.js';

/** What a client asks for: the streams, and how to come to a process. */
interface Command extends CommandOptions {
  /** Those streams that the client named: over SPDY it opens no others. */
  readonly named: CommandOptions;
  start(signal: AbortSignal): Promise<NodeProcess>;
}

/** GET and POST pods/NAME/exec and pods/NAME/attach: a command in a container, or its own program, with its streams. */
export async function serveCommand(server: Server, exchange: KnownExchange): Promise<void> {
  const isExec = exchange.info.subresource === 'exec';
  const connection = await admitConnection(server, exchange, {
    kind: isExec ? 'PodExecOptions' : 'PodAttachOptions',
    options: optionsOf(exchange.request.query, isExec),
  });
  const command = commandOf(connection, exchange.request.query, isExec);
  assertUpgrade(exchange);
  if (isWebSocket(exchange.request)) return serveWebSocket(server, exchange, command);
  if (isSpdy(exchange.request)) return serveSpdy(server, exchange, command);
  throw badRequest(`unable to upgrade: the protocol ${JSON.stringify(exchange.request.upgrade)} is not known`);
}

/** PodExecOptions and PodAttachOptions of a query. */
function optionsOf(query: URLSearchParams, isExec: boolean) {
  const container = query.get('container') ?? '';
  return {
    ...(isTrue(query.get('stdin')) ? { stdin: true } : {}),
    ...(isTrue(query.get('stdout') ?? 'true') ? { stdout: true } : {}),
    ...(isTrue(query.get('stderr') ?? 'true') ? { stderr: true } : {}),
    ...(isTrue(query.get('tty')) ? { tty: true } : {}),
    ...(container === '' ? {} : { container }),
    ...(isExec ? { command: query.getAll('command') } : {}),
  };
}

function commandOf({ namespace, name, pod, options, node }: Connection, query: URLSearchParams, isExec: boolean) {
  const container = targetContainer(pod, name, text(options.container) ?? '');
  const stdin = options.stdin === true;
  const tty = options.tty === true;
  const stdout = options.stdout === true;
  // A terminal has no second output.
  const stderr = options.stderr === true && !tty;
  if (!stdin && !stdout && !stderr) throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  const target = { namespace, pod: name, container, stdin, tty };
  const words = list(options.command).map(String);
  if (isExec && words.length === 0) throw badRequest('you must specify at least one command for the container');
  return {
    stdin,
    stdout,
    stderr,
    tty,
    named: { stdin, tty, stdout: stdout && query.has('stdout'), stderr: stderr && query.has('stderr') },
    start: (signal: AbortSignal) =>
      isExec ? node.execute({ ...target, command: words }, signal) : node.attach(target, signal),
  };
}

async function serveWebSocket(server: Server, { request, reply }: KnownExchange, command: Command): Promise<void> {
  const protocol = chooseProtocol(request, webSocketCommandProtocols);
  const headers = handshakeHeaders(request, protocol);
  const gone = new AbortController();
  const join = () =>
    webSocketCommandStreams(reply.switchProtocols(headers), {
      ...command,
      protocol,
      world: server.world,
      closed: () => gone.abort(),
    });
  if (protocol.startsWith('v5')) {
    // From v5 on it is the API server that speaks the protocol: it answers before it knows of the container.
    const streams = join();
    await finishWith(streams, () => command.start(gone.signal));
    return;
  }
  const process = await started(reply, command, gone.signal);
  if (process !== undefined) await finishWith(join(), () => Promise.resolve(process));
}

async function serveSpdy(server: Server, { request, reply }: KnownExchange, command: Command): Promise<void> {
  const protocol = chooseVersion(request, spdyCommandProtocols);
  if (protocol === undefined) return refuseVersions(request, spdyCommandProtocols, reply);
  const gone = new AbortController();
  const process = await started(reply, command, gone.signal);
  if (process === undefined) return;
  const streams = await spdyCommandStreams(reply.switchProtocols(spdyHeaders(protocol)), {
    ...command.named,
    protocol,
    world: server.world,
    closed: () => gone.abort(),
  });
  if (streams === undefined) gone.abort();
  else await finishWith(streams, () => Promise.resolve(process));
}

/** The process; where there is none, the reply is a text, as a node answers, and the connection stays HTTP's. */
async function started(
  reply: KnownExchange['reply'],
  command: Command,
  signal: AbortSignal,
): Promise<NodeProcess | undefined> {
  try {
    return await command.start(signal);
  } catch (error) {
    const { code = 500, message = '' } = statusOf(error);
    reply.text(code, message, 'text/plain; charset=utf-8');
    return undefined;
  }
}

/** After the change of protocols nothing can be told but by the streams. */
async function finishWith(streams: CommandStreams, start: () => Promise<NodeProcess>): Promise<void> {
  try {
    await runCommand(await start(), streams);
  } catch (error) {
    streams.finish(upgradeFailure(error));
  }
}
