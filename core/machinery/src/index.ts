export {
  formatKey,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type ObjectList,
  type ObjectMeta,
  type OwnerReference,
  parseKey,
} from './object.js';
export { apiVersionOf, type ResourceType, resourceName, resourcePath } from './resource-type.js';
export {
  isStatusError,
  type Status,
  type StatusCause,
  type StatusDetails,
  StatusError,
  type StatusReason,
  statusReasons,
} from './status-error.js';
