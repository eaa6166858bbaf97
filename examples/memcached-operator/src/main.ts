import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { connect, inClusterConfig, loadKubeconfig } from '@castellan/client';
import { createLog, managerMetrics, runOperator } from '@castellan/runtime';
import { realWorld } from '@castellan/world';
import { memcachedOperator } from './operator.js';

// In a pod its service account; elsewhere KUBECONFIG, or where kubectl looks.
const { KUBERNETES_SERVICE_HOST, KUBECONFIG, POD_NAMESPACE = 'default', PORT = '8080' } = process.env;
const config =
  KUBERNETES_SERVICE_HOST === undefined
    ? await loadKubeconfig(KUBECONFIG ?? join(homedir(), '.kube', 'config'))
    : await inClusterConfig();

const world = realWorld();
const log = createLog({ world, write: (line) => process.stdout.write(`${line}\n`) });
const metrics = managerMetrics();
const client = connect(config, { world, userAgent: 'memcached-operator', onReply: metrics.onReply });

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));

await runOperator(
  {
    operator: memcachedOperator(),
    client,
    world,
    log,
    metrics,
    listen: { host: '0.0.0.0', port: Number(PORT) },
    leaderElection: {
      name: 'memcached-operator',
      namespace: POD_NAMESPACE,
      identity: `${hostname()}_${world.random.uuid()}`,
    },
  },
  stop.signal,
);
await client.close();
