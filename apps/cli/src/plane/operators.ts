import type { Operator } from '@castellan/runtime';
import { CliError } from '../errors.js';

/** Every operator of this version; its code is loaded when it is asked for. */
const known: Readonly<Record<string, () => Promise<Operator>>> = {
  etcd: async () => (await import('@castellan/etcd')).etcdOperator(),
};

/** `--operators`: names separated by commas, `none`, or all of them when the option is absent. */
export function parseOperators(list: string | undefined): readonly string[] {
  if (list === undefined) return Object.keys(known);
  if (list === 'none') return [];
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(name in known));
  if (unknown.length > 0) {
    const message = `--operators: no operator is called ${unknown.map((name) => `"${name}"`).join(' or ')}.`;
    throw new CliError('UNKNOWN_OPERATOR', message, { next: `take from: ${Object.keys(known).join(', ')}; or none` });
  }
  return names;
}

export async function loadOperators(names: readonly string[]): Promise<readonly Operator[]> {
  const loaders = names.flatMap((name) => known[name] ?? []);
  return await Promise.all(loaders.map((load) => load()));
}
