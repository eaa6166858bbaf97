/** Thrown by a reconcile for which trying again is of no use until something watched changes. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}
