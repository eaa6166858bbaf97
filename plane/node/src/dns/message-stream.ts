import type { Socket } from 'node:net';

/** Over TCP each message comes after its length in two bytes (RFC 1035, 4.2.2). */
export function frameMessage(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Calls back for each whole message. */
export function readMessages(socket: Socket, take: (message: Buffer) => void): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0);
      take(pending.subarray(2, end));
      pending = pending.subarray(end);
    }
  });
}
