import { CelEvaluationError } from './cel-error.js';
import type { FunctionTable } from './function-table.js';
import { CelMessage } from './message.js';
import { messageFunction } from './message-literals.js';
import { type CelMap, CelOptional, type CelValue, isCelMap } from './value.js';

/** Beside the map that it is made of: what cel-go takes for a message. */
const messageUnits = 10;

/** What policies that change objects write patches with. */
export const messageFunctions: FunctionTable = {
  [messageFunction]: {
    signatures: [`${messageFunction}(string, map): dyn`],
    cost: () => messageUnits,
    run: ([typeName, fields]) =>
      typeof typeName === 'string' && fields !== undefined && isCelMap(fields)
        ? new CelMessage(typeName, fieldsOf(fields))
        : undefined,
  },
  'jsonpatch.escapeKey': {
    signatures: ['CelJsonPatch.escapeKey(string): string'],
    run: ([key]) => (typeof key === 'string' ? key.replaceAll('~', '~0').replaceAll('/', '~1') : undefined),
  },
};

/** A field that is written `?name` is there if its optional value is. */
function* fieldsOf(fields: CelMap): Generator<readonly [CelValue, CelValue]> {
  for (const key of fields.keys()) {
    const name = String(key);
    const value = fields.get(key) ?? null;
    if (!name.startsWith('?')) yield [name, value];
    else if (!(value instanceof CelOptional)) throw new CelEvaluationError(`field ${name} has no optional value`);
    else if (value.value !== undefined) yield [name.slice(1), value.value];
  }
}
