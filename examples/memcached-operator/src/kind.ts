import { defineKind, type ReadOf, s } from '@castellan/machinery';

/** What people write. From here come the CustomResourceDefinition, the types below, defaults and validation. */
export const memcacheds = defineKind({
  group: 'example.com',
  version: 'v1alpha1',
  kind: 'Memcached',
  spec: s.object({
    size: s.integer().min(1).max(9).default(3).describe('How many pods there are.'),
    image: s.string().default('memcached:1.6').describe('What they run.'),
  }),
  status: s.object({
    ready: s.integer().optional(),
    observedGeneration: s.integer().optional(),
    conditions: s.conditions().optional(),
  }),
  columns: [
    { name: 'Size', jsonPath: '.spec.size' },
    { name: 'Ready', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export type Memcached = ReadOf<typeof memcacheds>;
