import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { openBox, sealBox } from './secret-box.js';
import type { Provider } from './value-transformer.js';

export type ProviderName = keyof typeof secretLengths;

/** How many bytes a secret may have. */
export const secretLengths = { aescbc: [16, 24, 32], aesgcm: [16, 24, 32], secretbox: [32] } as const;

/** The name stands before every value, so that the right key is found again: it ends at the first colon. */
export interface Key {
  readonly name: string;
  readonly secret: Uint8Array;
}

export function providerOf(type: ProviderName, key: Key): Provider {
  const prefix = `k8s:enc:${type}:v1:${key.name}:`;
  switch (type) {
    case 'aescbc':
      return { prefix, ...aesCbc(key.secret) };
    case 'aesgcm':
      return { prefix, ...aesGcm(key.secret) };
    case 'secretbox':
      return { prefix, ...secretBox(key.secret) };
  }
}

type Cipher = Omit<Provider, 'prefix'>;

/** IV (16 bytes), then the ciphertext with the padding of PKCS #7. Nothing authenticates it. */
function aesCbc(secret: Uint8Array): Cipher {
  const blockBytes = 16;
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    seal(_key, value) {
      const iv = randomBytes(blockBytes);
      const cipher = createCipheriv(algorithm, secret, iv);
      return Buffer.concat([iv, cipher.update(value), cipher.final()]);
    },
    open(_key, sealed) {
      if (sealed.length < 2 * blockBytes || sealed.length % blockBytes !== 0) return undefined;
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, blockBytes));
      return orUndefined(() => Buffer.concat([decipher.update(sealed.subarray(blockBytes)), decipher.final()]));
    },
  };
}

/** Nonce (12 bytes), ciphertext, tag (16 bytes). Bound to its key in etcd: moved to another it does not open. */
function aesGcm(secret: Uint8Array): Cipher {
  const nonceBytes = 12;
  const tagBytes = 16;
  const algorithm = secret.length === 16 ? 'aes-128-gcm' : secret.length === 24 ? 'aes-192-gcm' : 'aes-256-gcm';
  return {
    seal(key, value) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, secret, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(key));
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    open(key, sealed) {
      if (sealed.length < nonceBytes + tagBytes) return undefined;
      const tagAt = sealed.length - tagBytes;
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(key));
      decipher.setAuthTag(sealed.subarray(tagAt));
      return orUndefined(() => Buffer.concat([decipher.update(sealed.subarray(nonceBytes, tagAt)), decipher.final()]));
    },
  };
}

/** Nonce (24 bytes), then NaCl's secretbox. */
function secretBox(secret: Uint8Array): Cipher {
  const nonceBytes = 24;
  return {
    seal(_key, value) {
      const nonce = randomBytes(nonceBytes);
      return Buffer.concat([nonce, sealBox(secret, nonce, value)]);
    },
    open(_key, sealed) {
      return openBox(secret, sealed.subarray(0, nonceBytes), sealed.subarray(nonceBytes));
    },
  };
}

/** node:crypto throws what says no more than that it is wrong. */
function orUndefined(decipher: () => Uint8Array): Uint8Array | undefined {
  try {
    return decipher();
  } catch {
    return undefined;
  }
}
