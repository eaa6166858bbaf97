import type { ResponseWriter } from '../server/http.js';
import type { PackedBody } from './packed-body.js';

const pieceBytes = 128 * 1024;

/** One that no reply is using: small lists, of which there are many, then take no memory of this size. */
let spare: Uint8Array | undefined;

/** Memory for one piece of a body. What it holds is of no meaning. */
export function takePiece(): Uint8Array {
  const piece = spare ?? Buffer.allocUnsafeSlow(pieceBytes);
  spare = undefined;
  return piece;
}

/** Only when nothing of it is on its way to a client any more. */
export function givePieceBack(piece: Uint8Array): void {
  spare = piece;
}

/**
 * Sends a body, as fast as the client takes it, and ends the reply; stops when the client is gone. `piece` holds its first
 * `begin` bytes and is used up.
 *
 * One piece of memory serves the whole body, filled again when it has been sent. With a new one for each, 13 MB in all, V8
 * collected garbage in every third list, for as long as the list itself took.
 */
export async function sendPieces(
  writer: ResponseWriter,
  body: PackedBody,
  { piece: first, begin }: { readonly piece: Uint8Array; readonly begin: number },
): Promise<void> {
  let piece = first;
  for (let length = begin; length > 0; length = body.read(piece)) {
    if (writer.isEnded) return;
    // A writer that takes more at once does not tell when this was sent: it keeps the piece.
    if (writer.write(piece.subarray(0, length))) piece = takePiece();
    else await new Promise<void>((resolve) => writer.onDrain(resolve));
  }
  writer.end();
  givePieceBack(piece);
}

/** The same for a reader that does not tell when it has done with one: each piece in memory of its own. */
export function* copiesOf(
  body: PackedBody,
  { piece, begin }: { readonly piece: Uint8Array; readonly begin: number },
): Generator<Uint8Array, void> {
  for (let length = begin; length > 0; length = body.read(piece)) yield Buffer.from(piece.subarray(0, length));
  givePieceBack(piece);
}
