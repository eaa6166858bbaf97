import { at, record } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { hostNameWarnings, podWarnings } from './warnings.js';

const hostNames = 'Pod names and hostnames';

/** Warnings of the template, when the object is new or its spec is; of the name when the object is new. */
export function templateWarnings(isHostName: boolean, ...path: readonly string[]): NonNullable<Strategy['warnings']> {
  return (object, current) => {
    const isNew = current === undefined;
    if (!isNew && current.metadata.generation === object.metadata.generation) return [];
    return [
      ...(isNew && isHostName ? hostNameWarnings(object, hostNames) : []),
      ...podWarnings(record(at(object, ...path)), path.join('.')),
    ];
  };
}
