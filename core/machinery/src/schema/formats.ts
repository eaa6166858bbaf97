import { isIpAddress, isIpv4, isIpv6 } from '../validation/ip-address.js';
import { dns1123LabelErrors, dns1123SubdomainErrors } from '../validation/names.js';

/** The string formats of a CustomResourceDefinition that are checked. Others are accepted and mean nothing, as upstream. */
export const stringFormats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['byte', matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/)],
  ['cidr', isCidr],
  ['creditcard', isCardNumber],
  ['date', isDate],
  ['date-time', isDateTime],
  ['datetime', isDateTime],
  ['duration', isDuration],
  ['email', matches(/^[^\s@<>]+@[^\s@<>]+$/)],
  ['hexcolor', matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['hostname', isHostname],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['k8s-long-name', (text) => dns1123SubdomainErrors(text).length === 0],
  ['k8s-short-name', (text) => dns1123LabelErrors(text).length === 0],
  [
    'mac',
    matches(/^(?:[0-9a-f]{2}[:-]){5}(?:(?:[0-9a-f]{2}[:-]){2})?[0-9a-f]{2}$|^(?:[0-9a-f]{4}\.){2,3}[0-9a-f]{4}$/i),
  ],
  ['rgbcolor', matches(/^rgb\(\s*(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\s*,\s*){2}(?:25[0-5]|2[0-4]\d|1?\d?\d)\s*\)$/)],
  ['ssn', matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['uri', isUri],
  ['uuid', matches(/^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i)],
  ['uuid3', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
]);

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

function isDateTime(text: string): boolean {
  const parts = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?$/.exec(
    text,
  );
  if (parts === null) return false;
  const [, date, hour, minute, second] = parts;
  return isDate(date ?? '') && Number(hour) < 24 && Number(minute) < 60 && Number(second ?? 0) <= 60;
}

/** Go's durations (`1h30m`, `-1.5s`, `0`) and the longer words that the format allows besides (`3 days`). */
function isDuration(text: string): boolean {
  if (/^[+-]?0$/.test(text)) return true;
  if (/^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return true;
  return /^(?:\s*\d+\s*(?:ns|nano|us|µs|micro|ms|milli|s|sec|second|m|min|minute|h|hr|hour|d|day|w|wk|week)s?)+\s*$/.test(
    text,
  );
}

function isCidr(text: string): boolean {
  const slash = text.lastIndexOf('/');
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  if (slash < 0 || !/^(?:0|[1-9]\d{0,2})$/.test(bits) || !isIpAddress(address)) return false;
  return Number(bits) <= (isIpv4(address) ? 32 : 128);
}

function isHostname(text: string): boolean {
  return (
    text.length <= 255 &&
    text.split('.').every((label) => /^[\p{L}\p{N}_](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?$/u.test(label))
  );
}

/** As Go's `url.ParseRequestURI`: an absolute URI, or an absolute path. */
function isUri(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text)) return false;
  return text.startsWith('/') || /^[A-Za-z][A-Za-z0-9+.-]*:(?:\/\/[^/?#]*)?./.test(text);
}

/** The weighted sum of a number's digits, `X` being ten. */
function weighted(digits: string, weight: (index: number) => number): number {
  return [...digits].reduce((sum, digit, index) => sum + (digit === 'X' ? 10 : Number(digit)) * weight(index), 0);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  return /^\d{9}[\dX]$/.test(digits) && weighted(digits, (index) => 10 - index) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  return /^\d{13}$/.test(digits) && weighted(digits, (index) => (index % 2 === 0 ? 1 : 3)) % 10 === 0;
}

/** Thirteen to sixteen digits of an issuer of cards, the last one by Luhn's rule. */
function isCardNumber(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (!/^[2-6]\d{12,15}$/.test(digits)) return false;
  const doubled = [...digits].reverse().map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 2));
  return doubled.reduce((sum, each) => sum + (each > 9 ? each - 9 : each), 0) % 10 === 0;
}
