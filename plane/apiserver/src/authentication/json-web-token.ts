import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isRecord, type JsonRecord } from '../json.js';

/** Three parts in base64url without padding (RFC 7515, 3.1). Node's decoder skips what is not of its alphabet. */
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

type Algorithm = 'ES256' | 'RS256';

/** Signs and verifies JSON web tokens (RFC 7519) with one key: ES256 for a P-256 key, RS256 for an RSA key. */
export class TokenSigner {
  private readonly privateKey: KeyObject;
  private readonly publicKey: KeyObject;
  private readonly algorithm: Algorithm;
  private readonly keyId: string;

  /** @param privateKey PEM. */
  constructor(privateKey: string) {
    this.privateKey = createPrivateKey(privateKey);
    this.publicKey = createPublicKey(this.privateKey);
    this.algorithm = this.privateKey.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
    this.keyId = createHash('sha256')
      .update(this.publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url');
  }

  sign(claims: JsonRecord): string {
    const content = `${encoded({ alg: this.algorithm, kid: this.keyId })}.${encoded(claims)}`;
    const signature = sign('sha256', Buffer.from(content), { key: this.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${content}.${signature.toString('base64url')}`;
  }

  /** The claims of a token that this key signed; its times and audiences are for the caller to check. */
  verify(token: string): JsonRecord | undefined {
    if (!compactForm.test(token)) return undefined;
    const [head = '', body = '', signature = ''] = token.split('.');
    const header = decoded(head);
    if (header?.alg !== this.algorithm) return undefined;
    const key = { key: this.publicKey, dsaEncoding: 'ieee-p1363' as const };
    const isSigned = verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'));
    return isSigned ? decoded(body) : undefined;
  }

  /** RFC 7517, as `/openid/v1/jwks` shows it. */
  keySet(): { readonly keys: readonly JsonRecord[] } {
    const key = this.publicKey.export({ format: 'jwk' });
    return { keys: [{ use: 'sig', ...key, kid: this.keyId, alg: this.algorithm }] };
  }
}

function encoded(value: JsonRecord): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decoded(part: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
