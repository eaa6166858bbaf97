import type { Duplex } from 'node:stream';
import type { World } from '@castellan/world';
import { type CommandOptions, type CommandStreams, commandChannels, statusText } from './command-streams.js';
import { codingOf, WebSocketChannels } from './web-socket-channels.js';

/** Subprotocols of exec and attach. Without one, the oldest is meant. */
export const webSocketCommandProtocols: readonly string[] = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
  '',
];

const { stdin, stdout, stderr, error, resize } = commandChannels;

/** A command's streams as the channels of a WebSocket connection. */
export function webSocketCommandStreams(
  transport: Duplex,
  options: CommandOptions & { readonly protocol: string; readonly world: World; closed(): void },
): CommandStreams {
  const { protocol, world } = options;
  const isPlain = !protocol.startsWith('v');
  const channels = new WebSocketChannels(transport, {
    world,
    coding: codingOf(protocol),
    count: Object.keys(commandChannels).length,
    reads: [...(options.stdin ? [stdin] : []), ...(options.tty ? [resize] : [])],
    closed: () => options.closed(),
  });
  // An empty message on the first channel of ours tells the client that the connection is there, as upstream does.
  channels.send(options.stdout ? stdout : options.stderr ? stderr : error, Buffer.alloc(0));
  return {
    ...(options.stdin ? { stdin: channels.channel(stdin) } : {}),
    ...(options.stdout ? { stdout: channels.channel(stdout) } : {}),
    ...(options.stderr ? { stderr: channels.channel(stderr) } : {}),
    ...(options.tty ? { resize: channels.channel(resize) } : {}),
    finish(status) {
      const text = statusText(status, isPlain);
      if (text !== '') channels.send(error, Buffer.from(text));
      channels.close();
    },
  };
}
