import type { ResponseWriter } from '../server/http.js';

/** Sends a body piece by piece, as fast as the client takes it, and ends the reply. Stops when the client is gone. */
export async function sendChunks(writer: ResponseWriter, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (writer.isEnded) return;
    if (!writer.write(chunk)) await new Promise<void>((resolve) => writer.onDrain(resolve));
  }
  writer.end();
}
