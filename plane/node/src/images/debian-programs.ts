import type { DebianProgram } from './debian-program.js';
import { nginxProgram } from './nginx-program.js';
import { zookeeperProgram } from './zookeeper-program.js';

/** It refuses to be root unless it is told to; the container's root is nobody outside of it. */
const memcachedProgram: DebianProgram = {
  images: ['memcached', 'bitnami/memcached'],
  path: '/usr/bin/memcached',
  package: 'memcached',
  name: 'memcached',
  version: { arguments: ['-V'], pattern: /^memcached (\S+)/ },
  image: { arguments: ['memcached', '-u', 'root'] },
};

/** Data in /prometheus, port 9090; it looks at itself until it is told of others. */
const prometheusProgram: DebianProgram = {
  images: ['prom/prometheus', 'prometheus/prometheus'],
  path: '/usr/bin/prometheus',
  package: 'prometheus',
  name: 'prometheus',
  version: { arguments: ['--version'], pattern: /^prometheus, version (\d+\.\d+\.\d+)/m },
  image: {
    entrypoint: ['/bin/prometheus'],
    arguments: ['--config.file=/etc/prometheus/prometheus.yml', '--storage.tsdb.path=/prometheus'],
    workingDirectory: '/prometheus',
    files: [
      {
        path: '/etc/prometheus/prometheus.yml',
        content: `global:
  scrape_interval: 15s
scrape_configs:
  - job_name: prometheus
    static_configs:
      - targets: ['localhost:9090']
`,
      },
      { path: '/prometheus/.keep', content: '' },
    ],
  },
};

/** The machine's files are in every container anyway, so most programs need nothing of their image but themselves. */
export const debianPrograms: readonly DebianProgram[] = [
  memcachedProgram,
  nginxProgram,
  prometheusProgram,
  zookeeperProgram,
];
