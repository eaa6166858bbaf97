import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { WebSocket } from './web-socket.js';

/** A client's end that keeps what it is sent. */
class Peer extends Duplex {
  readonly received: Buffer[] = [];

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.received.push(chunk);
    done();
  }
}

/** An empty pong, masked with zeros. */
const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const ping = '8900';

function connection() {
  const world = simulatedWorld(1);
  const peer = new Peer();
  let closed = 0;
  const socket = new WebSocket(peer, world, {
    message: () => undefined,
    closed() {
      closed += 1;
    },
  });
  return { world, peer, socket, closed: () => closed };
}

test('a silent peer is asked every 5 s whether it is there, and given up after 61 s', async () => {
  const { world, peer, closed } = connection();
  await world.advance(15_000);
  assert.equal(Buffer.concat(peer.received).toString('hex'), ping.repeat(3));
  await world.advance(45_000);
  assert.equal(peer.destroyed, false);
  await world.advance(10_000);
  assert.equal(peer.destroyed, true);
  assert.equal(closed(), 1);
});

test('a peer that answers is kept, and so is one whose messages we do not take', async () => {
  const { world, peer, socket } = connection();
  for (let count = 0; count < 10; count += 1) {
    await world.advance(20_000);
    peer.push(pong);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(peer.destroyed, false);
  socket.pause();
  await world.advance(200_000);
  assert.equal(peer.destroyed, false);
  socket.close();
  await world.advance(10_000);
  assert.equal(peer.destroyed, true, 'a close that is not answered is not waited for');
});
