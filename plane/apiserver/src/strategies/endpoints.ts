import { type ApiObject, records } from '../json.js';
import type { Strategy } from '../registry/strategy.js';

export const endpointsStrategy: Strategy = {
  withDefaults: (endpoints) =>
    endpoints.subsets === undefined
      ? endpoints
      : { ...endpoints, subsets: records(endpoints.subsets).map((subset) => withPorts(subset)) },
};

export const endpointSliceStrategy: Strategy = {
  withDefaults: (slice): ApiObject => {
    if (slice.ports === undefined) return slice;
    return { ...slice, ports: records(slice.ports).map((port) => ({ name: '', protocol: 'TCP', ...port })) };
  },
};

function withPorts(subset: Readonly<Record<string, unknown>>) {
  if (subset.ports === undefined) return subset;
  return { ...subset, ports: records(subset.ports).map((port) => ({ protocol: 'TCP', ...port })) };
}
