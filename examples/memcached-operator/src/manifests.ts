import { writeFileSync } from 'node:fs';
import { memcacheds } from './kind.js';

// JSON is YAML: kubectl and Helm read it.
writeFileSync('manifests/crd.json', `${JSON.stringify(memcacheds.crd, undefined, 2)}\n`);
writeFileSync('manifests/reference.md', memcacheds.document());
