import type { Client } from '@castellan/client';
import type { EventRecorder, Log } from '@castellan/runtime';
import type { World } from '@castellan/world';
import type { ImagePulls } from '../image-store/image-pulls.js';
import type { ImageCatalogue } from '../images/image-catalogue.js';
import type { CgroupLayout } from '../sandbox/control-group.js';
import type { ExitWatch } from '../sandbox/exit-watch.js';
import type { LogKeeper } from '../sandbox/log-keeper.js';
import type { NodeNetwork, PlaneNetwork } from '../sandbox/plane-network.js';
import type { ServiceLinks } from '../services/service-environment.js';
import type { PodPlaces } from './pod-places.js';

/** What every pod of a node shares. */
export interface PodHost {
  /** The node's own: what it may not do, its pods' worker may not. */
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
  readonly dataDirectory: string;
  readonly nodeName: string;
  readonly clusterDomain: string;
  readonly network: PlaneNetwork;
  readonly nodeNetwork: NodeNetwork;
  readonly places: PodPlaces;
  readonly cgroups: CgroupLayout;
  readonly images: ImageCatalogue;
  readonly pulls: ImagePulls;
  readonly exits: ExitWatch;
  readonly logs: LogKeeper;
  readonly events: EventRecorder;
  /** Addresses of services, as variables. */
  serviceEnvironment(links: ServiceLinks): Readonly<Record<string, string>>;
  /** Whether services lead new connections to this address, as far as this machine has heard. */
  isServed(namespace: string, address: string): boolean;
}
