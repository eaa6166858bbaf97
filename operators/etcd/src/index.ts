export { type ExploreEtcdOptions, exploreEtcd } from './explore-etcd.js';
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
export { etcdPlanner, planEtcdCluster } from './plan.js';
