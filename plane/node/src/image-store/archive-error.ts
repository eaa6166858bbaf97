/** An archive is no image, is damaged, or holds what must not be unpacked. The message says what, and what to do. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}
