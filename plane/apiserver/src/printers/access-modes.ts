import { list } from '../json.js';

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** `RWO,ROX` */
export function accessModesText(modes: unknown): string {
  return list(modes)
    .map((mode) => shortModes[String(mode)] ?? String(mode))
    .join(',');
}
