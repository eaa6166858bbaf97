export { type MissingRight, missingRights } from './access/check-access.js';
export { clusterRole, type PolicyRule, type RequiredRulesOptions, requiredRules } from './access/required-rules.js';
export { type CacheIndex, index } from './cache/cache-index.js';
export { type CachedType, type CachePart, cached, type MetadataObject, metadataOf, pick } from './cache/cached-type.js';
export type { Picked } from './cache/field-path.js';
export type { ConditionStatus, EnsureOwnedOptions, ObjectContext, StatusOf } from './controller/context.js';
export { type ControllerDefinition, controller, type ObjectReconcile } from './controller/object-controller.js';
export {
  type Controller,
  type DeclaredWrite,
  type EventNote,
  type EventRecorder,
  type Log,
  type LogFields,
  type OwnChange,
  type ReconcileContext,
  type ReconcileResult,
  type WatchSource,
  watchSource,
} from './controller.js';
export { blocked, type Decision, settled, step, wait } from './decision.js';
export type { Change, ChangeHandler } from './informer/change.js';
export type { HandlerOptions, HandlerRegistration } from './informer/handler-registration.js';
export { Informer, type InformerOptions, type InformerState } from './informer/informer.js';
export type { CacheStatus } from './informer/informer-set.js';
export { type ReflectorOptions, type ReflectorSink, runReflector, type Selection } from './informer/reflector.js';
export { createLog, type LogLevel, type LogOptions, logWith } from './log.js';
export type { ControllerStatus } from './manager/controller-runner.js';
export { createFleet, type Fleet, type FleetCluster, type FleetOptions } from './manager/fleet.js';
export { type LeaderElectionOptions, LeaderElector, LeadershipLostError } from './manager/leader-election.js';
export { createManager, type Manager, type ManagerOptions, type ManagerStatus } from './manager/manager.js';
export type { ManagerWebhooks } from './manager/manager-webhooks.js';
export type { KeyStatus } from './manager/reconcile-history.js';
export { type Explanation, explain } from './observe/explain.js';
export { type ManagerMetrics, managerMetrics } from './observe/manager-metrics.js';
export {
  combineObservers,
  type ManagerObserver,
  type ObservedController,
  type ReconcileEnd,
  type ReconcileStart,
} from './observe/manager-observer.js';
export {
  type HealthCheck,
  type ManagerServer,
  type ManagerServerOptions,
  serveManagers,
} from './observe/manager-server.js';
export { type Labels, Metrics } from './observe/metrics.js';
export { type ActiveSpan, type SpanTracer, spanObserver } from './observe/span-observer.js';
export type { ObservedWebhook, ReviewEnd, WebhookObserver } from './observe/webhook-observer.js';
export { installKinds } from './operator/install-kinds.js';
export type { Operator } from './operator/operator.js';
export { operatorWebhooks, type WebhookReach } from './operator/operator-webhooks.js';
export { type RunOperatorOptions, runOperator } from './operator/run-operator.js';
export {
  type DefinedPlanner,
  definePlanner,
  type ExplorationBound,
  type PlannerExploration,
} from './planner/define-planner.js';
export { type Exploration, type ExploreOptions, explore, type Violation } from './planner/explore.js';
export { type Forecast, type ForecastEntry, type ForecastOptions, forecast } from './planner/forecast.js';
export { NotNowError } from './planner/not-now-error.js';
export type { Invariant, Model, Planner, WorldMove } from './planner/planner.js';
export type {
  ActContext,
  Pass,
  PassContext,
  PassTiming,
  PlannerDefinition,
  PlannerModel,
} from './planner/planner-definition.js';
export { standardEvents } from './planner/standard-report.js';
export {
  type BackoffOptions,
  BucketLimiter,
  type BucketOptions,
  KeyedBackoff,
  longestOf,
  type RateLimiter,
} from './queue/rate-limiter.js';
export { type QueueObserver, WorkQueue, type WorkQueueOptions } from './queue/work-queue.js';
export type { ListSelection, Reader } from './reader.js';
export { type ShardingOptions, ShardsLostError } from './sharding/shard-keeper.js';
export {
  type Channel,
  type ChannelConsumer,
  type ChannelOptions,
  type ChannelSource,
  channelSource,
} from './source/channel-source.js';
export { ownerSource } from './source/owner-source.js';
export {
  and,
  annotationsChanged,
  type ChangePredicate,
  generationChanged,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
} from './source/predicates.js';
export { TerminalError } from './terminal-error.js';
export {
  createWebhooks,
  type MountedCertificates,
  type OwnCertificates,
  type Webhooks,
  type WebhooksOptions,
} from './webhook/create-webhooks.js';
export {
  type AdmissionOperation,
  type AdmissionQuestion,
  type AskedObjects,
  type Verdict,
  type Webhook,
  type WebhookHandlers,
  webhook,
} from './webhook/webhook.js';
export { BeingDeletedError } from './write/being-deleted-error.js';
export { type EnsureOptions, ensureObject } from './write/ensure-object.js';
export { ownerReferenceFor } from './write/owner-reference.js';
export { updateStatus } from './write/update-status.js';
