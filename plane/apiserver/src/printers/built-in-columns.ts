import { fallbackColumns, nameAndAge } from '../registry/define.js';
import type { Column } from './column.js';

/** kubectl's columns of the built-in kinds. */
export const columnsOf = {
  namespaces: nameAndAge,
  pods: nameAndAge,
  services: nameAndAge,
  endpoints: nameAndAge,
  configmaps: nameAndAge,
  secrets: nameAndAge,
  serviceaccounts: nameAndAge,
  events: nameAndAge,
  nodes: nameAndAge,
  persistentvolumeclaims: nameAndAge,
  leases: nameAndAge,
  endpointslices: nameAndAge,
  poddisruptionbudgets: nameAndAge,
  customresourcedefinitions: fallbackColumns,
} satisfies Readonly<Record<string, readonly Column[]>>;
