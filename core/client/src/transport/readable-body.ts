import type { Readable } from 'node:stream';

/**
 * A reply's body from a node stream. `isTruncated` is asked at the end, because a stream that was reset by the other side
 * ends like one that is complete. Breaking out of the loop destroys the stream.
 */
export async function* readableBody(
  stream: Readable,
  options: {
    readonly isTruncated: () => boolean;
    readonly onChunk?: () => void;
    readonly signal?: AbortSignal | undefined;
  },
): AsyncGenerator<Uint8Array, void, undefined> {
  const { isTruncated, onChunk, signal } = options;
  try {
    for await (const chunk of stream) {
      onChunk?.();
      yield chunk;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  signal?.throwIfAborted();
  if (isTruncated()) throw new Error('the reply was cut off');
}
