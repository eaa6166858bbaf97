import { isStatusError } from '@castellan/machinery';

/** The refusal to create anything in a namespace that is being deleted: there is nothing to retry. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!isStatusError(error, 'Forbidden')) return false;
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
}
