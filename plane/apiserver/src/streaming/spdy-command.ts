import type { Duplex } from 'node:stream';
import type { World } from '@castellan/world';
import { type CommandOptions, type CommandStreams, statusText } from './command-streams.js';
import { SpdySession, type SpdyStream } from './spdy-session.js';

/** Versions of exec and attach over SPDY; a client that names none speaks the first, which is the last here. */
export const spdyCommandProtocols: readonly string[] = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
];

const creationDeadlineMs = 30_000;

/**
 * A command's streams as the streams of a SPDY connection: the client opens them, and names each in a header. Resolves
 * when they are all there; `undefined` when they do not come.
 */
export async function spdyCommandStreams(
  transport: Duplex,
  options: CommandOptions & { readonly protocol: string; readonly world: World; closed(): void },
): Promise<CommandStreams | undefined> {
  const { protocol, world } = options;
  const hasResize = options.tty && !['v2.channel.k8s.io', 'channel.k8s.io'].includes(protocol);
  const wanted = [
    'error',
    ...(options.stdin ? ['stdin'] : []),
    ...(options.stdout ? ['stdout'] : []),
    ...(options.stderr ? ['stderr'] : []),
    ...(hasResize ? ['resize'] : []),
  ];
  const streams = new Map<string, SpdyStream>();
  let settle: (areThere: boolean) => void = () => undefined;
  const areThere = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  const session = new SpdySession(transport, world, {
    opened(stream) {
      const type = stream.headers.get('streamtype') ?? '';
      if (!wanted.includes(type) || streams.has(type)) {
        stream.destroy();
        return;
      }
      streams.set(type, stream);
      if (streams.size === wanted.length) settle(true);
    },
    closed() {
      settle(false);
      options.closed();
    },
  });
  const cancel = world.clock.after(creationDeadlineMs, () => settle(false));
  const isComplete = await areThere;
  cancel();
  if (!isComplete) {
    session.end();
    return undefined;
  }
  const [stdin, stdout, stderr, resize] = ['stdin', 'stdout', 'stderr', 'resize'].map((name) => streams.get(name));
  return {
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
    ...(resize === undefined ? {} : { resize }),
    finish(status) {
      const isPlain = !['v5.channel.k8s.io', 'v4.channel.k8s.io'].includes(protocol);
      streams.get('error')?.end(statusText(status, isPlain), () => session.end());
    },
  };
}
