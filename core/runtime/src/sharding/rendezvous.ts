/**
 * Which of `members` a shard belongs to: the one with the highest hash of both names (rendezvous hashing, Thaler and
 * Ravishankar 1998). When a member comes or goes, only the shards that it gets or had change hands.
 */
export function rendezvous(shard: number, members: readonly string[]): string | undefined {
  let winner: string | undefined;
  let highest = -1;
  for (const member of members) {
    const weight = hash(`${member}/${shard}`);
    if (weight > highest || (weight === highest && member < (winner ?? ''))) {
      winner = member;
      highest = weight;
    }
  }
  return winner;
}

/** The shard of a key, from 0. The same in every process and version. */
export function shardOf(key: string, shards: number): number {
  return hash(key) % shards;
}

/** FNV-1a of 32 bits over UTF-16 units, stirred at the end as MurmurHash3 does, since names differ in few characters. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
