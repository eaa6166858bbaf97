import { type PersistentVolumeClaim, type StorageClass, storageAmount, storageAnnotations } from '@castellan/machinery';
import { localProvisioner } from './local-volume.js';

export type ProvisionPlan =
  | { readonly kind: 'make'; readonly nodeName: string }
  /** No node was chosen, and none has to be: this one takes the claim, if it is the first. */
  | { readonly kind: 'take'; readonly nodeName: string }
  /** `mayFitElsewhere`: the scheduler is to choose again. */
  | { readonly kind: 'refuse'; readonly reason: string; readonly mayFitElsewhere: boolean }
  /** The node that was chosen is elsewhere, or off; or any would do, and none takes volumes now. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'leave' };

export interface ProvisionSurroundings {
  readonly storageClass: StorageClass | undefined;
  /** Of this machine, those that run. */
  readonly runningNodes: readonly string[];
  /** Of these, those that are not cordoned. */
  readonly openNodes: readonly string[];
  totalBytes(): number;
}

/** Whether a node of this machine makes a volume for a claim. Pure. */
export function planProvisioning(claim: PersistentVolumeClaim, around: ProvisionSurroundings): ProvisionPlan {
  const { annotations = {}, deletionTimestamp } = claim.metadata;
  const { storageClass, runningNodes, openNodes } = around;
  const isAsked =
    annotations[storageAnnotations.provisioner] === localProvisioner && storageClass?.provisioner === localProvisioner;
  const hasVolume = (claim.spec?.volumeName ?? '') !== '';
  if (!isAsked || hasVolume || deletionTimestamp !== undefined) return { kind: 'leave' };
  const selected = annotations[storageAnnotations.selectedNode];
  const waitsForPod = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
  if (selected !== undefined && !runningNodes.includes(selected)) return { kind: 'wait' };
  if (selected === undefined && waitsForPod) return { kind: 'leave' };
  const nodeName = selected ?? spread(claim, openNodes);
  if (nodeName === undefined) return { kind: 'wait' };
  const impossible = impossibility(claim);
  if (impossible !== undefined) return { kind: 'refuse', reason: impossible, mayFitElsewhere: false };
  const tooLarge = excessOf(claim, around.totalBytes());
  if (tooLarge !== undefined) return { kind: 'refuse', reason: tooLarge, mayFitElsewhere: selected !== undefined };
  return { kind: selected === undefined ? 'take' : 'make', nodeName };
}

/** Claims that any node would do for go to all of them alike. */
function spread({ metadata }: PersistentVolumeClaim, nodes: readonly string[]): string | undefined {
  const number = Number.parseInt((metadata.uid ?? '').slice(-4), 16);
  return nodes[Number.isNaN(number) ? 0 : number % nodes.length];
}

function impossibility({ spec = {} }: PersistentVolumeClaim): string | undefined {
  if (spec.selector !== undefined) return 'claim.Spec.Selector is not supported';
  if (spec.volumeMode === 'Block') {
    return 'volumes are directories, and cannot be block devices; next: ask for volumeMode Filesystem';
  }
  if (spec.dataSource !== undefined || spec.dataSourceRef !== undefined) {
    return 'volumes are empty at first; next: leave out dataSource and dataSourceRef, and copy the data in a pod';
  }
  return undefined;
}

/** Volumes share the disk of their machine; what is more than the whole of it is not promised to anybody. */
export function excessOf({ spec }: PersistentVolumeClaim, totalBytes: number): string | undefined {
  const { nano } = storageAmount(spec?.resources?.requests);
  if (nano <= BigInt(totalBytes) * 1_000_000_000n) return undefined;
  const asked = spec?.resources?.requests?.storage;
  const total = `${Math.floor(totalBytes / 2 ** 20)}Mi`;
  return `${asked} is more than the disk of this node has, which is ${total}; next: ask for less, or move the data directory to a larger disk`;
}
