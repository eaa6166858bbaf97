import type { ApiObject } from '../json.js';
import type { Resource } from '../registry/resource.js';
import { updateObject, type WriteTools } from '../registry/write.js';
import type { CustomResources } from './custom-resources.js';
import { isDecided, needsDecision, waitsForNames, withEstablishment } from './definition-status.js';

/**
 * Decides the names of definitions that were written, in a write of its own as kube-apiserver does: the reply to a
 * creation has an empty status, and who sees `Established` can create objects.
 */
export class DefinitionEstablishment {
  private readonly crds: Resource;
  private readonly custom: CustomResources;
  private readonly tools: () => WriteTools;
  private readonly log: (line: string) => void;
  private readonly underWay = new Map<string, Promise<void>>();
  /** In a group names are decided one after the other: of two definitions that ask for one name the first gets it. */
  private readonly turns = new Map<string, Promise<void>>();

  constructor(options: {
    readonly crds: Resource;
    readonly custom: CustomResources;
    readonly tools: () => WriteTools;
    readonly log: ((line: string) => void) | undefined;
  }) {
    this.crds = options.crds;
    this.custom = options.custom;
    this.tools = options.tools;
    this.log = options.log ?? (() => {});
  }

  /** Call when a definition was written. */
  begin(crd: ApiObject): void {
    if (!needsDecision(crd)) return;
    const { name = '' } = crd.metadata;
    const group = name.slice(name.indexOf('.') + 1);
    const done = (this.turns.get(group) ?? Promise.resolve())
      .then(() => this.establish(name))
      .catch((error: unknown) => {
        this.log(`cannot decide the names of ${name}: ${error instanceof Error ? error.message : String(error)}`);
      })
      .finally(() => {
        if (this.underWay.get(name) === done) this.underWay.delete(name);
        if (this.turns.get(group) === done) this.turns.delete(group);
      });
    this.turns.set(group, done);
    this.underWay.set(name, done);
  }

  /** Resolves when what was begun for a definition is done; `undefined` where nothing is. */
  settled(name: string): Promise<void> | undefined {
    return this.underWay.get(name);
  }

  /** Goes on with what a stopped server left. */
  resume(definitions: readonly ApiObject[]): void {
    for (const crd of definitions) if (!isDecided(crd)) this.begin(crd);
  }

  /** Names that nobody has any more go to who has waited for them. */
  async passNamesOn(gone: ApiObject): Promise<void> {
    const neighbours = await this.custom.neighbours(gone);
    for (const crd of neighbours.filter(waitsForNames)) this.begin(crd);
  }

  private async establish(name: string): Promise<void> {
    const { store } = this.crds;
    const before = await store.storage.get(store.layout.prefix + name);
    if (before === undefined) return;
    const tools = this.tools();
    const { object } = await updateObject(
      this.crds,
      {
        namespace: undefined,
        name,
        subresource: 'status',
        change: async (crd) => withEstablishment(crd, await this.custom.neighbours(crd), tools.context),
        isReplacement: false,
      },
      tools,
    );
    // It may have let go of names that others wait for.
    if (object.metadata.resourceVersion !== before.metadata.resourceVersion && isDecided(before)) {
      await this.passNamesOn(object);
    }
  }
}
