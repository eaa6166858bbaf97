import { isIpAddress, isIpv4, isIpv6 } from '../validation/ip-address.js';
import { CelEvaluationError } from './cel-error.js';
import type { CelFunction, FunctionTable } from './function-table.js';
import type { CelObject, CelValue } from './value.js';

class CelIp implements CelObject {
  readonly celType = 'net.IP';
  readonly text: string;

  constructor(text: string) {
    if (!isIpAddress(text))
      throw new CelEvaluationError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
    this.text = canonical(text);
  }

  get bits(): bigint {
    return bitsOf(this.text);
  }

  get family(): 4 | 6 {
    return isIpv4(this.text) ? 4 : 6;
  }

  equals(other: CelValue): boolean {
    return other instanceof CelIp && other.family === this.family && other.bits === this.bits;
  }
}

class CelCidr implements CelObject {
  readonly celType = 'net.CIDR';
  readonly ip: CelIp;
  readonly prefixLength: number;

  constructor(text: string) {
    if (!isCidr(text))
      throw new CelEvaluationError(
        `network address parse error during conversion from string: ${JSON.stringify(text)}`,
      );
    const [address = '', length = ''] = text.split('/');
    this.ip = new CelIp(address);
    this.prefixLength = Number(length);
  }

  contains(ip: CelIp): boolean {
    return ip.family === this.ip.family && this.network(ip.bits) === this.network(this.ip.bits);
  }

  /** `bits` without those of the host. */
  network(bits: bigint): bigint {
    const host = BigInt((this.ip.family === 4 ? 32 : 128) - this.prefixLength);
    return (bits >> host) << host;
  }

  equals(other: CelValue): boolean {
    return other instanceof CelCidr && other.ip.equals(this.ip) && other.prefixLength === this.prefixLength;
  }
}

/** IP addresses and networks, as Kubernetes has them in its expressions. */
export const networkFunctions: FunctionTable = {
  isIP: ofText('isIP(string): bool', isIpAddress),
  ip: {
    signatures: ['ip(string): net.IP', 'net.CIDR.ip(): net.IP'],
    run: ([text], target) =>
      target instanceof CelCidr ? target.ip : typeof text === 'string' ? new CelIp(text) : undefined,
  },
  'ip.isCanonical': {
    signatures: ['CelIpNamespace.isCanonical(string): bool'],
    run: ([text]) => (typeof text === 'string' ? new CelIp(text).text === text : undefined),
  },
  family: onIp('family(): int', (ip) => BigInt(ip.family)),
  isUnspecified: onIp('isUnspecified(): bool', (ip) => ip.bits === 0n),
  isLoopback: onIp('isLoopback(): bool', (ip) => (ip.family === 4 ? ip.bits >> 24n === 127n : ip.bits === 1n)),
  isLinkLocalMulticast: onIp('isLinkLocalMulticast(): bool', (ip) =>
    ip.family === 4 ? ip.bits >> 8n === 0xe00000n : ip.bits >> 112n === 0xff02n,
  ),
  isLinkLocalUnicast: onIp('isLinkLocalUnicast(): bool', (ip) =>
    ip.family === 4 ? ip.bits >> 16n === 0xa9fen : ip.bits >> 118n === 0x3fan,
  ),
  isGlobalUnicast: onIp('isGlobalUnicast(): bool', (ip) => {
    if (ip.family === 4) {
      return (
        ![0n, 127n].includes(ip.bits >> 24n) &&
        ip.bits >> 28n !== 0xen &&
        ip.bits >> 16n !== 0xa9fen &&
        ip.bits !== 0xffffffffn
      );
    }
    return ip.bits > 1n && ip.bits >> 120n !== 0xffn && ip.bits >> 118n !== 0x3fan;
  }),
  isCIDR: ofText('isCIDR(string): bool', isCidr),
  cidr: {
    signatures: ['cidr(string): net.CIDR'],
    run: ([text]) => (typeof text === 'string' ? new CelCidr(text) : undefined),
  },
  containsIP: {
    signatures: ['net.CIDR.containsIP(string): bool', 'net.CIDR.containsIP(net.IP): bool'],
    run: ([given], target) => {
      const ip = typeof given === 'string' ? new CelIp(given) : given;
      return target instanceof CelCidr && ip instanceof CelIp ? target.contains(ip) : undefined;
    },
  },
  containsCIDR: {
    signatures: ['net.CIDR.containsCIDR(string): bool', 'net.CIDR.containsCIDR(net.CIDR): bool'],
    run: ([given], target) => {
      const inner = typeof given === 'string' ? new CelCidr(given) : given;
      if (!(target instanceof CelCidr && inner instanceof CelCidr)) return undefined;
      return inner.prefixLength >= target.prefixLength && target.contains(inner.ip);
    },
  },
  prefixLength: onCidr('prefixLength(): int', (cidr) => BigInt(cidr.prefixLength)),
  masked: onCidr('masked(): net.CIDR', (cidr) => {
    const address = textOf(cidr.network(cidr.ip.bits), cidr.ip.family);
    return new CelCidr(`${address}/${cidr.prefixLength}`);
  }),
  string: {
    signatures: ['string(net.IP): string', 'string(net.CIDR): string'],
    run: ([value]) => {
      if (value instanceof CelIp) return value.text;
      return value instanceof CelCidr ? `${value.ip.text}/${value.prefixLength}` : undefined;
    },
  },
};

function ofText(signature: string, run: (text: string) => boolean): CelFunction {
  return { signatures: [signature], run: ([text]) => (typeof text === 'string' ? run(text) : undefined) };
}

function onIp(form: string, run: (ip: CelIp) => CelValue): CelFunction {
  return { signatures: [`net.IP.${form}`], run: (_, target) => (target instanceof CelIp ? run(target) : undefined) };
}

function onCidr(form: string, run: (cidr: CelCidr) => CelValue): CelFunction {
  return {
    signatures: [`net.CIDR.${form}`],
    run: (_, target) => (target instanceof CelCidr ? run(target) : undefined),
  };
}

function isCidr(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  const most = isIpv4(address) ? 32 : isIpv6(address) ? 128 : -1;
  return rest.length === 0 && /^(?:0|[1-9]\d{0,2})$/.test(length) && Number(length) <= most;
}

function canonical(text: string): string {
  return isIpv4(text) ? text : new URL(`http://[${text}]`).hostname.slice(1, -1);
}

function bitsOf(text: string): bigint {
  if (isIpv4(text)) return text.split('.').reduce((bits, number) => (bits << 8n) | BigInt(number), 0n);
  const [head = '', tail] = text.split('::');
  const groups = (half: string) => (half === '' ? [] : half.split(':'));
  const [before, after] = [groups(head), tail === undefined ? [] : groups(tail)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function textOf(bits: bigint, family: 4 | 6): string {
  const size = family === 4 ? 8n : 16n;
  const count = family === 4 ? 4 : 8;
  const mask = (1n << size) - 1n;
  const parts = Array.from({ length: count }, (_, index) => (bits >> (size * BigInt(count - 1 - index))) & mask);
  return family === 4 ? parts.join('.') : canonical(parts.map((part) => part.toString(16)).join(':'));
}
