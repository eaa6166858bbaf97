import type { Representation } from './negotiation.js';

/** How one reply shows its objects. */
export interface RenderOptions {
  readonly representation: Representation;
  /** What a Table's rows hold of the object: None, Metadata (the default) or Object. */
  readonly includeObject: string;
  readonly nowMs: number;
}
