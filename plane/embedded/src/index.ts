export {
  ArchiveError,
  checkMachine,
  defaultProgramDirectory,
  enterRootless,
  ImageCatalogue,
  ImageStore,
  type LoadedImage,
  type LoadProgress,
  loadArchive,
  type MachineFinding,
  type NodeState,
  type OfferedProgram,
  openRootlessPort,
  PullError,
  pullImage,
  removeEverything as tearDown,
  removeUserNamespace,
  type StoredImage,
} from '@castellan/node';
export { type Plane, type PlaneNodes, startPlane } from './plane.js';
export type { Phase, PlaneOptions } from './plane-options.js';
export { EncryptionError } from './remembered-encryption.js';
export type { NodesWish } from './remembered-nodes.js';
export { StorageMismatchError } from './remembered-storage.js';
export type { EtcdTlsFiles, Storage } from './storage-place.js';
