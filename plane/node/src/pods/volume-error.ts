/** A volume cannot be made yet, or never. Becomes the event FailedMount; the pod waits in ContainerCreating. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
}
