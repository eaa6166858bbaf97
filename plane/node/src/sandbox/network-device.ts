import { readFileSync } from 'node:fs';

/**
 * Whether this process's network has a device of that name. Not looked up in /sys/class/net: that shows the network in
 * which /sys was mounted, which in a user namespace is the machine's and not ours.
 */
export function hasDevice(name: string): boolean {
  const lines = readFileSync('/proc/self/net/dev', 'utf8').split('\n');
  return lines.some((line) => line.trimStart().startsWith(`${name}:`));
}
