import type { ApiObject } from '../json.js';

/** One column of kubectl's output. `priority` 1 = only with `-o wide`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  cell(object: ApiObject, nowMs: number): unknown;
}

export function column(
  name: string,
  cell: (object: ApiObject, nowMs: number) => unknown,
  options: {
    readonly type?: string;
    readonly format?: string;
    readonly priority?: number;
    readonly description?: string;
  } = {},
): Column {
  const { type = 'string', format = '', priority = 0, description = '' } = options;
  return { name, type, format, description, priority, cell };
}
