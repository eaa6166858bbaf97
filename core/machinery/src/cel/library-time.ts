import type { FunctionTable } from './function-table.js';
import { CelDuration, CelTimestamp } from './time.js';
import type { CelValue } from './value.js';

/** Times and spans of time; their forms are known to the parser. */
export const timeFunctions: FunctionTable = {
  timestamp: {
    run: ([value]) => {
      if (value instanceof CelTimestamp) return value;
      if (typeof value === 'bigint') return new CelTimestamp(value * 1_000_000_000n);
      return typeof value === 'string' ? CelTimestamp.parse(value) : undefined;
    },
  },
  duration: {
    run: ([value]) => {
      if (value instanceof CelDuration) return value;
      return typeof value === 'string' ? CelDuration.parse(value) : undefined;
    },
  },
  getFullYear: part((date) => date.getUTCFullYear()),
  getMonth: part((date) => date.getUTCMonth()),
  getDate: part((date) => date.getUTCDate()),
  getDayOfMonth: part((date) => date.getUTCDate() - 1),
  getDayOfWeek: part((date) => date.getUTCDay()),
  getDayOfYear: part((date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000)),
  getHours: part((date) => date.getUTCHours(), 3_600_000_000_000n),
  getMinutes: part((date) => date.getUTCMinutes(), 60_000_000_000n),
  getSeconds: part((date) => date.getUTCSeconds(), 1_000_000_000n),
  getMilliseconds: part((date) => date.getUTCMilliseconds(), 1_000_000n),
};

/** Of a time: the field of its date, in a zone that may be given. Of a span: how many whole units it has. */
function part(ofDate: (date: Date) => number, nanosPerUnit?: bigint) {
  return {
    run: ([zone]: readonly CelValue[], target: CelValue | undefined): CelValue | undefined => {
      if (target instanceof CelTimestamp) return BigInt(ofDate(target.date(typeof zone === 'string' ? zone : '')));
      if (target instanceof CelDuration && nanosPerUnit !== undefined) return target.nanos / nanosPerUnit;
      return undefined;
    },
  };
}
