import type { World } from '@castellan/world';
import type { ApiRequest, ResponseWriter } from '../server/http.js';
import { WebSocket } from './web-socket.js';
import { handshakeHeaders, offeredProtocols } from './web-socket-handshake.js';

const newline = 0x0a;
/** More than this on its way, and the client does not keep up. */
const waitingBytes = 1024 * 1024;

/**
 * Where a browser asks for a watch by WebSocket, the reply's lines become text messages, one each. A reply that is no
 * success stays HTTP's.
 */
export function webSocketWriter(writer: ResponseWriter, request: ApiRequest, world: World): ResponseWriter {
  let socket: WebSocket | undefined;
  let rest: Buffer = Buffer.alloc(0);
  let isEnded = false;
  let waiting = 0;
  const drained = new Set<() => void>();
  const wake = () => {
    for (const callback of drained) callback();
    drained.clear();
  };
  const send = (bytes: Uint8Array | string) => {
    rest = Buffer.concat([rest, Buffer.from(bytes)]);
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      const line = rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
      waiting += line.length;
      socket?.send(line.toString('utf8'), () => {
        waiting -= line.length;
        if (waiting < waitingBytes) wake();
      });
    }
  };
  return {
    head(status, headers) {
      if (status !== 200 || writer.switchProtocols === undefined) {
        writer.head(status, headers);
        return;
      }
      const [protocol = ''] = offeredProtocols(request);
      socket = new WebSocket(writer.switchProtocols(handshakeHeaders(request, protocol)), world, {
        message: () => undefined,
        closed() {
          isEnded = true;
          wake();
        },
      });
    },
    write(chunk) {
      if (socket === undefined) return writer.write(chunk);
      if (!isEnded) send(chunk);
      return isEnded || waiting < waitingBytes;
    },
    end(chunk) {
      if (socket === undefined) return writer.end(chunk);
      if (chunk !== undefined && !isEnded) send(chunk);
      isEnded = true;
      socket.close();
    },
    onDrain(callback) {
      if (socket === undefined) writer.onDrain(callback);
      else if (isEnded || waiting < waitingBytes) callback();
      else drained.add(callback);
    },
    get isEnded() {
      return socket === undefined ? writer.isEnded : isEnded;
    },
  };
}
