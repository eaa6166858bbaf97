/** What is between an object's bytes and the bytes in the keyspace. */
export interface ValueTransformer {
  seal(key: string, value: Uint8Array): Uint8Array;
  /** @throws DecryptionError */
  open(key: string, stored: Uint8Array): OpenedValue;
}

export interface OpenedValue {
  readonly value: Uint8Array;
  /** It would be sealed otherwise now: the next update writes it, also where it changes nothing. */
  readonly isStale: boolean;
}

/** A stored value that no configured key opens. The API server answers 500: what is there is never passed on unopened. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
  readonly code = 'DECRYPTION';
  constructor(
    readonly key: string,
    readonly reason: string,
  ) {
    super(`unable to transform key ${JSON.stringify(key)}: ${reason}`);
  }
}

/** One way to seal, and what its values begin with. */
export interface Provider {
  /** `k8s:enc:aescbc:v1:NAME:`; '' for identity. */
  readonly prefix: string;
  seal(key: string, value: Uint8Array): Uint8Array;
  /** Without the prefix. `undefined`: not sealed with this key, or changed since. */
  open(key: string, sealed: Uint8Array): Uint8Array | undefined;
}

const encryptedPrefix = 'k8s:enc:';

/** Values as they are. Refuses to read what is encrypted, as kube-apiserver's does: without its key it is only garbage. */
export const identity: Provider = {
  prefix: '',
  seal: (_key, value) => value,
  open: (_key, stored) => (beginsWith(stored, encryptedPrefix) ? undefined : stored),
};

/** The first provider writes, each of them reads. Source: kube-apiserver, storage/value/transformer.go. */
export function firstWritesAllRead(providers: readonly [Provider, ...(readonly Provider[])]): ValueTransformer {
  const [first] = providers;
  return {
    seal(key, value) {
      const sealed = first.seal(key, value);
      return first.prefix === '' ? sealed : Buffer.concat([Buffer.from(first.prefix), sealed]);
    },
    open(key, stored) {
      let isKnown = false;
      for (const provider of providers) {
        if (!beginsWith(stored, provider.prefix)) continue;
        isKnown ||= provider.prefix !== '';
        const value = provider.open(key, stored.subarray(provider.prefix.length));
        if (value !== undefined) return { value, isStale: provider !== first };
      }
      throw new DecryptionError(key, whyNotOpened(stored, isKnown));
    },
  };
}

export const plainValues: ValueTransformer = firstWritesAllRead([identity]);

function whyNotOpened(stored: Uint8Array, isKnown: boolean): string {
  if (isKnown) return 'it was sealed with another secret under the same key name, or was changed since';
  const [provider, version, name] = Buffer.from(stored.subarray(encryptedPrefix.length, 300)).toString().split(':');
  return `no matching prefix found: it is encrypted by ${provider}:${version} with the key "${name}", which is not configured`;
}

function beginsWith(bytes: Uint8Array, prefix: string): boolean {
  if (bytes.length < prefix.length) return false;
  for (let index = 0; index < prefix.length; index += 1) {
    if (bytes[index] !== prefix.charCodeAt(index)) return false;
  }
  return true;
}
