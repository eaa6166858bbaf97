export function isIpAddress(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

/** Four decimal numbers without leading zeros, which some systems read as octal. */
export function isIpv4(text: string): boolean {
  const numbers = text.split('.');
  return (
    numbers.length === 4 && numbers.every((number) => /^(?:0|[1-9]\d{0,2})$/.test(number) && Number(number) <= 255)
  );
}

/** RFC 4291 §2.2, without a zone. */
export function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return false;
  let groups = 0;
  for (const [index, half] of halves.entries()) {
    if (half === '') continue;
    const parts = half.split(':');
    const isLastHalf = index === halves.length - 1;
    for (const [position, part] of parts.entries()) {
      if (isLastHalf && position === parts.length - 1 && isIpv4(part)) groups += 2;
      else if (/^[0-9a-f]{1,4}$/i.test(part)) groups += 1;
      else return false;
    }
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}
