/** What a thrown value says, for logs and messages. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
