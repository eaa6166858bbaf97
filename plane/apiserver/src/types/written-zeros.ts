import type { JsonRecord } from '../json.js';

/** Go writes a time that is no pointer whatever it holds: an unset one is null. */
const noTime = null;

const transition = { lastTransitionTime: noTime };
const probed = { lastProbeTime: noTime, ...transition };
const updated = { lastUpdateTime: noTime, ...transition };

/** Fields within lists that are part of every object of their type, be they empty, with what they hold when unset. */
const zerosOf: Readonly<Record<string, JsonRecord>> = {
  'apiextensions/v1.CustomResourceDefinitionCondition': transition,
  'apiregistration/v1.APIServiceCondition': transition,
  'apps/v1.DaemonSetCondition': transition,
  'apps/v1.DeploymentCondition': updated,
  'apps/v1.ReplicaSetCondition': transition,
  'apps/v1.StatefulSetCondition': transition,
  'autoscaling/v2.HorizontalPodAutoscalerCondition': transition,
  'batch/v1.JobCondition': probed,
  'certificates/v1.CertificateSigningRequestCondition': updated,
  'core/v1.ContainerStateRunning': { startedAt: noTime },
  'core/v1.ContainerStateTerminated': { exitCode: 0, startedAt: noTime, finishedAt: noTime },
  'core/v1.ContainerStatus': {
    name: '',
    state: {},
    lastState: {},
    ready: false,
    restartCount: 0,
    image: '',
    imageID: '',
  },
  'core/v1.NamespaceCondition': transition,
  'core/v1.NodeCondition': { lastHeartbeatTime: noTime, ...transition },
  'core/v1.PersistentVolumeClaimCondition': probed,
  'core/v1.PodCondition': probed,
  'core/v1.ReplicationControllerCondition': transition,
  'meta/v1.Condition': { ...transition, reason: '', message: '' },
};

/** `decoded`, a value of the type, with the fields that Go writes although nobody set them. */
export function withWrittenZeros(typeName: string, decoded: JsonRecord): JsonRecord {
  const zeros = Object.hasOwn(zerosOf, typeName) ? zerosOf[typeName] : undefined;
  return zeros === undefined ? decoded : { ...zeros, ...decoded };
}
