import { writeFileSync } from 'node:fs';
import { clusterRole, requiredRules } from '@castellan/runtime';
import { memcacheds } from './kind.js';
import { memcachedOperator } from './operator.js';

// JSON is YAML: kubectl and Helm read it.
const write = (name: string, object: object) =>
  writeFileSync(`manifests/${name}.json`, `${JSON.stringify(object, undefined, 2)}\n`);

const leaderElection = { name: 'memcached-operator' };
write('crd', memcacheds.crd);
// The rights that the operator needs, and no others.
write('cluster-role', clusterRole('memcached-operator', requiredRules(memcachedOperator(), { leaderElection })));
writeFileSync('manifests/reference.md', memcacheds.document());
