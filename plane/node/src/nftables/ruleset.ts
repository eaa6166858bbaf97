/**
 * What a table holds besides its base: chains and sets with names, and the elements of the base's own sets and maps. Values are nft's
 * own words; what they refer to is in the same ruleset or in the base.
 */
export interface Ruleset {
  readonly sets: ReadonlyMap<string, NamedSet>;
  /** The rules of each chain, in order. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** By name of the base's set or map; of a set the values are empty. */
  readonly elements: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface NamedSet {
  /** `type ipv4_addr; flags interval;` */
  readonly declaration: string;
  /** None for a set that rules fill. */
  readonly elements: readonly string[];
}

export const emptyRuleset: Ruleset = { sets: new Map(), chains: new Map(), elements: new Map() };

/** Elements of one command: nft reads a line at a time. */
const elementsAtOnce = 500;

/**
 * The commands that make of one ruleset the other, for one transaction. What did not change is not touched: sets that rules
 * fill keep what they have, and counters of turns go on.
 */
export function rulesetChanges(table: string, before: Ruleset, after: Ruleset): readonly string[] {
  const gone = <T>(from: ReadonlyMap<string, T>, to: ReadonlyMap<string, T>) =>
    [...from.keys()].filter((name) => !to.has(name));
  const chains = gone(before.chains, after.chains);
  // A set that is declared otherwise is another set: its readers are written anew.
  const sets = [...before.sets].filter(([name, { declaration }]) => after.sets.get(name)?.declaration !== declaration);
  const replaced = new Set(sets.map(([name]) => name));
  const isSame = (name: string, rules: readonly string[]) => {
    const old = before.chains.get(name);
    const reads = rules.some((rule) => [...replaced].some((set) => rule.includes(`@${set} `)));
    return (
      old !== undefined && !reads && old.length === rules.length && old.every((rule, index) => rule === rules[index])
    );
  };
  const written = [...after.chains].filter(([name, rules]) => !isSame(name, rules));
  return [
    ...removedElements(table, before, after),
    ...[...chains, ...written.map(([name]) => name).filter((name) => before.chains.has(name))].map(
      (name) => `flush chain ip ${table} ${name}`,
    ),
    ...chains.map((name) => `delete chain ip ${table} ${name}`),
    ...sets.map(([name]) => `delete set ip ${table} ${name}`),
    ...[...after.sets].flatMap(([name, set]) =>
      setCommands(table, name, set, replaced.has(name) ? undefined : before.sets.get(name)),
    ),
    ...written.filter(([name]) => !before.chains.has(name)).map(([name]) => `add chain ip ${table} ${name}`),
    ...written.flatMap(([name, rules]) => rules.map((rule) => `add rule ip ${table} ${name} ${rule}`)),
    ...addedElements(table, before, after),
  ];
}

function setCommands(table: string, name: string, set: NamedSet, before: NamedSet | undefined): readonly string[] {
  const isSame =
    before?.elements.length === set.elements.length && before.elements.every((each, n) => each === set.elements[n]);
  if (isSame) return [];
  return [
    before === undefined ? `add set ip ${table} ${name} { ${set.declaration} }` : `flush set ip ${table} ${name}`,
    ...elementCommands('add', table, name, set.elements),
  ];
}

function removedElements(table: string, before: Ruleset, after: Ruleset): readonly string[] {
  return [...before.elements].flatMap(([name, old]) => {
    const now = after.elements.get(name);
    const removed = [...old].filter(([key, value]) => now?.get(key) !== value).map(([key]) => key);
    return elementCommands('delete', table, name, removed);
  });
}

function addedElements(table: string, before: Ruleset, after: Ruleset): readonly string[] {
  return [...after.elements].flatMap(([name, now]) => {
    const old = before.elements.get(name);
    const added = [...now].filter(([key, value]) => old?.get(key) !== value);
    return elementCommands(
      'add',
      table,
      name,
      added.map(([key, value]) => (value === '' ? key : `${key} : ${value}`)),
    );
  });
}

function elementCommands(
  verb: 'add' | 'delete',
  table: string,
  set: string,
  elements: readonly string[],
): readonly string[] {
  const commands: string[] = [];
  for (let start = 0; start < elements.length; start += elementsAtOnce) {
    commands.push(`${verb} element ip ${table} ${set} { ${elements.slice(start, start + elementsAtOnce).join(', ')} }`);
  }
  return commands;
}
