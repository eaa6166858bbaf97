import type { Log } from '@castellan/runtime';
import type { Clock } from '@castellan/world';
import { emptyRuleset, type Ruleset, rulesetChanges } from './ruleset.js';
import { runNft } from './run-nft.js';

export interface NftTableOptions {
  /** Of family `ip`. Named after the bridge, so that it can be found without records. */
  readonly name: string;
  /** Commands after `add table`, which do no harm when they are carried out again. */
  readonly base: readonly string[];
  readonly log: Log;
  readonly clock: Clock;
}

const retryMs = 1_000;

/**
 * One table of the kernel's packet filter. What an earlier agent left in it stays in force until the first `replace`; from then on it
 * holds exactly what was last given, each change in one transaction.
 */
export class NftTable {
  readonly #options: NftTableOptions;
  #wanted: Ruleset | undefined;
  /** `undefined`: not known, so all of it has to be written. */
  #written: Ruleset | undefined;
  #work: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: NftTableOptions) {
    this.#options = options;
  }

  /** Rejects when this machine has no nft, or its kernel refuses. */
  static async open(options: NftTableOptions): Promise<NftTable> {
    const { name, base } = options;
    const create = [`add table ip ${name}`, ...base];
    const kept = await runNft(create);
    // A table of another release may have another base: nothing of it can be kept.
    if (kept.exitCode !== 0) await write([`add table ip ${name}`, `delete table ip ${name}`, ...create]);
    return new NftTable(options);
  }

  /** Resolves when this, or what was given after it, is in force, or has failed: then it is said in the log and tried again. */
  async replace(ruleset: Ruleset): Promise<void> {
    this.#wanted = ruleset;
    this.#work ??= this.#writeAll();
    await this.#work;
  }

  /** The table stays as it is. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#work;
  }

  /** Changes that come while one is written are written together. */
  async #writeAll(): Promise<void> {
    // What is asked for in the same turn is one change.
    await Promise.resolve();
    for (let wanted = this.#wanted; wanted !== undefined && !this.#isClosed; wanted = this.#wanted) {
      this.#wanted = undefined;
      try {
        await this.#write(wanted);
        this.#written = wanted;
      } catch (error) {
        const { clock, log, name } = this.#options;
        log.error('the packet filter could not be changed', { table: name, error: String(error) });
        this.#written = undefined;
        this.#wanted ??= wanted;
        clock.after(retryMs, () => this.#retry());
        break;
      }
    }
    // With no pause since the last look at #wanted: what is asked for from now on begins anew.
    this.#work = undefined;
  }

  #retry(): void {
    const wanted = this.#wanted;
    if (wanted !== undefined && !this.#isClosed) void this.replace(wanted);
  }

  async #write(wanted: Ruleset): Promise<void> {
    const { name, base } = this.#options;
    const changes = rulesetChanges(name, this.#written ?? emptyRuleset, wanted);
    if (this.#written !== undefined && changes.length === 0) return;
    const anew = [`add table ip ${name}`, `delete table ip ${name}`, `add table ip ${name}`, ...base];
    await write(this.#written === undefined ? [...anew, ...changes] : changes);
  }
}

/** The tables of a plane: their names follow from its bridge's. */
export function tablesOf(bridge: string): { readonly services: string; readonly policy: string } {
  return { services: bridge, policy: `${bridge}-policy` };
}

/** Whether or not they are there, and whether or not the machine has nft. */
export async function removeNftTables(bridge: string): Promise<void> {
  const commands = Object.values(tablesOf(bridge)).flatMap((name) => [
    `add table ip ${name}`,
    `delete table ip ${name}`,
  ]);
  await runNft(commands).catch(() => undefined);
}

async function write(commands: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await runNft(commands);
  if (exitCode !== 0) throw new Error(`nft failed: ${stderr.trim()}`);
}
