import { type FieldError, fieldError, type OwnerReference, ShownValue } from '@castellan/machinery';

const path = 'metadata.ownerReferences';

/** What is wrong with the owners that an object names. */
export function ownerErrors(owners: readonly OwnerReference[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const owner of owners) {
    errors.push(...errorsOf(owner));
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller === '') controller = name;
    else {
      const problem = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(fieldError.invalid(path, new ShownValue(owners.map(inGoOrder)), problem));
    }
  }
  return errors;
}

function errorsOf(owner: OwnerReference): readonly FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner;
  const errors: FieldError[] = [];
  const parts = apiVersion.split('/');
  if (parts.length > 2 || parts.at(-1) === '') {
    errors.push(fieldError.invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
  }
  for (const [field, value] of Object.entries({ kind, name, uid })) {
    if (value === '') errors.push(fieldError.invalid(`${path}.${field}`, value, 'must not be empty'));
  }
  if (apiVersion === 'v1' && kind === 'Event') {
    const problem = '/v1, Kind=Event is disallowed from being an owner';
    errors.push(fieldError.invalid(path, new ShownValue(inGoOrder(owner)), problem));
  }
  return errors;
}

function inGoOrder({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): object {
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion };
}
