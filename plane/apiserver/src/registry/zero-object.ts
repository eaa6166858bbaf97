import { isRecord, type JsonRecord } from '../json.js';

/** Structures that are values in Go: they are there in every object, be they empty, and so nobody adds them. */
const values: ReadonlySet<string> = new Set([
  'metadata',
  'spec',
  'status',
  'template',
  'jobTemplate',
  'strategy',
  'updateStrategy',
  'resources',
  'podSelector',
  'roleRef',
  'scaleTargetRef',
  'involvedObject',
  'source',
  'deprecatedSource',
  'daemonEndpoints',
  'nodeInfo',
  'priorityLevelConfiguration',
  'regarding',
  'names',
  'loadBalancer',
]);

/** Kinds where one of them is a pointer instead. */
const pointers: Readonly<Record<string, string>> = { ReplicationController: 'template' };

/** Single values that Go writes even when they are zero. */
const scalars: ReadonlySet<string> = new Set([
  'reportingComponent',
  'reportingInstance',
  'revision',
  'serviceName',
  'value',
]);

/** What a new object of a built-in kind is before anybody has said anything of it, so far as `object` goes. */
export function zeroObject(object: JsonRecord, kind: string): JsonRecord {
  return emptied(object, pointers[kind] ?? '');
}

function emptied(value: JsonRecord, pointer: string): JsonRecord {
  const zero: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value)) {
    // Only what cannot be left out is null.
    if (child === null) zero[name] = null;
    else if (name === 'containers' && Array.isArray(child)) zero[name] = [];
    else if (scalars.has(name) && (child === '' || child === 0)) zero[name] = child;
    else if (values.has(name) && name !== pointer && isRecord(child)) zero[name] = emptied(child, pointer);
  }
  return zero;
}
