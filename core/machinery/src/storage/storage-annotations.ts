/** Annotations by which the controllers of storage tell each other where they are. Source: component-helpers' storage/volume. */
export const storageAnnotations = {
  /** Of a claim: it was bound to its volume once. */
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  /** Of a claim or a volume: the other one was chosen by a controller, not by a person. */
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  /** Of a volume: the provisioner that made it. */
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  /** Of a claim: the node on which its first pod will run. */
  selectedNode: 'volume.kubernetes.io/selected-node',
  /** Of a claim: who is to make its volume; also under its older name. */
  provisioner: 'volume.kubernetes.io/storage-provisioner',
  betaProvisioner: 'volume.beta.kubernetes.io/storage-provisioner',
  /** Of a class: claims that name no class get this one. */
  isDefaultClass: 'storageclass.kubernetes.io/is-default-class',
  /** Of a claim or a volume: its class, from before there was a field for it. It still counts first. */
  betaClass: 'volume.beta.kubernetes.io/storage-class',
} as const;
