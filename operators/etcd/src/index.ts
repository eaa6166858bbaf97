export { EtcdRefusedError, EtcdUnreachableError, type Refusal } from './admin/errors.js';
export { type EtcdAdmin, type EtcdAdminOptions, etcdAdmin } from './admin/etcd-admin.js';
export type { EtcdMember, EtcdMemberState } from './admin/etcd-member.js';
export type { JsonPost, PostOptions, PostReply } from './admin/transport.js';
export {
  type EtcdCluster,
  type EtcdClusterManifest,
  type EtcdClusterSpec,
  type EtcdClusterStatus,
  type EtcdMemberStatus,
  type EtcdPhase,
  type EtcdPodPolicy,
  etcdClusters,
} from './api/etcd-cluster.js';
export { defineEtcdPlanner, type EtcdControllerOptions, type EtcdPlanner, etcdController } from './controller.js';
export { type ExploreEtcdOptions, exploreEtcd } from './model/explore-etcd.js';
export { etcdModel } from './model/model.js';
export type {
  EtcdDesired,
  EtcdObservation,
  EtcdStep,
  Membership,
  MemberView,
  PodPhase,
  PodView,
} from './observation.js';
export { etcdOperator } from './operator.js';
export { etcdPlanner, planEtcdCluster } from './plan.js';
export {
  type EtcdForecast,
  type EtcdForecastStep,
  type ExistingEtcdCluster,
  forecastEtcdCluster,
  type PlanFileOptions,
  planEtcdClusterFile,
} from './plan-file.js';
