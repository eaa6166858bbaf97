import { type Pod, pods } from '@castellan/machinery';
import { type CacheIndex, index } from '@castellan/runtime';

export const podsByNode: CacheIndex<Pod> = index(pods, 'node', ({ spec }) => {
  const name = spec?.nodeName ?? '';
  return name === '' ? [] : [name];
});
