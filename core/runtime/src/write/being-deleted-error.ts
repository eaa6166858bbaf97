/** What is to be written is on its way out: its successor can be made when it is gone. */
export class BeingDeletedError extends Error {
  override readonly name = 'BeingDeletedError';
}
