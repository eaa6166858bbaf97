// What this machine and Node take for a durable write and its event, measured between the writes of the server: a busy
// machine shows here first.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Connection } from './connection.mjs';

export class Floor {
  #process;
  #writer;
  #watcher;
  #onEvent = () => {};

  /** Beside the plane of this data directory, so that both write to the same disk. */
  static async start(directory, kubeconfig) {
    const floor = new Floor();
    floor.#process = spawn(
      process.execPath,
      [fileURLToPath(new URL('./floor-server.mjs', import.meta.url)), directory],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [port] = await once(floor.#process.stdout, 'data');
    const place = { ...kubeconfig, server: `https://127.0.0.1:${String(port).trim()}` };
    floor.#writer = new Connection(place);
    floor.#watcher = new Connection(place);
    await floor.#watcher.watch('/', (event, nowMs) => floor.#onEvent(event, nowMs));
    return floor;
  }

  /** Milliseconds from the sending of `body` until the watcher has its event, and those of them that the disk took. */
  async write(body) {
    const begunMs = performance.now();
    const heard = new Promise((resolve) => {
      this.#onEvent = ({ diskMs }, nowMs) => resolve({ ms: nowMs - begunMs, diskMs });
    });
    const [result] = await Promise.all([heard, this.#writer.send('POST', '/', { body, expected: 201 })]);
    return result;
  }

  stop() {
    this.#writer.close();
    this.#watcher.close();
    this.#process.kill();
  }
}
