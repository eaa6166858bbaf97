import type { Operator } from '@castellan/runtime';
import { etcdClusters } from './api/etcd-cluster.js';
import { type EtcdControllerOptions, etcdController } from './controller.js';

/** Everything that a manager needs to run etcd clusters: the kind, and the controller that acts on it. */
export function etcdOperator(options: EtcdControllerOptions = {}): Operator {
  return {
    name: 'etcd',
    customResourceDefinitions: [etcdClusters.crd],
    controllers: [etcdController(options)],
  };
}
