import { StatusError } from '@castellan/machinery';

/** 422 for a query parameter of list or watch. */
export function invalidListOptions(field: string, message: string): StatusError {
  return StatusError.of('Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    group: 'meta.k8s.io',
    kind: 'ListOptions',
    causes: [{ reason: reasonOf(message), message, field }],
  });
}

function reasonOf(message: string): string {
  return message.startsWith('Forbidden') ? 'FieldValueForbidden' : 'FieldValueNotSupported';
}
