import { resourceName, type StatusCause, StatusError } from '@castellan/machinery';

/** What refusals name: a resource by group and plural, an object's kind where the text wants it. */
interface Named {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

export function notFound(resource: Named, name: string): StatusError {
  return StatusError.of('NotFound', `${resourceName(resource)} "${name}" not found`, detailsOf(resource, name));
}

export function alreadyExists(resource: Named, name: string): StatusError {
  return StatusError.of(
    'AlreadyExists',
    `${resourceName(resource)} "${name}" already exists`,
    detailsOf(resource, name),
  );
}

/** As `alreadyExists`, of an object that finalizers or its grace period hold. */
export function stillBeingDeleted(resource: Named, name: string): StatusError {
  return StatusError.of(
    'AlreadyExists',
    `object is being deleted: ${resourceName(resource)} "${name}" already exists`,
    detailsOf(resource, name),
  );
}

export function conflict(resource: Named, name: string, problem: string): StatusError {
  const message = `Operation cannot be fulfilled on ${resourceName(resource)} "${name}": ${problem}`;
  return StatusError.of('Conflict', message, detailsOf(resource, name));
}

export const objectWasModified =
  'the object has been modified; please apply your changes to the latest version and try again';

export function forbidden(
  resource: Named,
  name: string,
  problem: string,
  causes?: readonly StatusCause[],
): StatusError {
  const subject = name === '' ? resourceName(resource) : `${resourceName(resource)} "${name}"`;
  return StatusError.of('Forbidden', `${subject} is forbidden: ${problem}`, {
    ...detailsOf(resource, name),
    ...(causes === undefined ? {} : { causes }),
  });
}

/** 415: the body is of no type that can be read here. */
export function unsupportedBody(supported: readonly string[]): StatusError {
  return StatusError.of(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );
}

/** 500 with a text alone: what upstream answers where it has no reason to name. */
export function internalError(message: string): StatusError {
  return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 });
}

export function badRequest(message: string): StatusError {
  return StatusError.of('BadRequest', message);
}

export function unknownResource(): StatusError {
  return StatusError.of('NotFound', 'the server could not find the requested resource', {});
}

export function methodNotAllowed(): StatusError {
  return StatusError.of('MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function expired(message: string): StatusError {
  return StatusError.of('Expired', message);
}

function detailsOf(resource: Named, name: string) {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}
