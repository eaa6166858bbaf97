import type { ApiObject } from '../json.js';

/** Events of smaller objects are not worth the entry. */
const sharedFromBytes = 64 * 1024;

/**
 * The first events of watches, about what is there already. Those of a large object are one piece of memory for all watches
 * that begin while any of them still sends it: thousands of watches of it cost no more than one.
 */
export class SharedEvents {
  private readonly inUse = new WeakMap<ApiObject, Map<string, WeakRef<Uint8Array>>>();

  /** @param form tells the forms apart in which an object is shown. */
  of(object: ApiObject, form: string, encode: () => Uint8Array): Uint8Array {
    const known = this.inUse.get(object)?.get(form)?.deref();
    if (known !== undefined) return known;
    const bytes = encode();
    if (bytes.length < sharedFromBytes) return bytes;
    const forms = this.inUse.get(object) ?? new Map<string, WeakRef<Uint8Array>>();
    this.inUse.set(object, forms.set(form, new WeakRef(bytes)));
    return bytes;
  }
}
