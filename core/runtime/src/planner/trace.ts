/** How one state followed from the one before. */
export interface TraceLine {
  readonly kind: 'world' | 'fault' | 'step' | 'step in part' | 'stale step' | 'plan';
  readonly text: string;
  readonly reason?: string;
  /** How many moves earlier a stale step was decided. */
  readonly age?: number;
}

export interface TraceState {
  /** Absent for the start. */
  readonly via: TraceLine | undefined;
  readonly state: string;
}

/** A path as numbered lines for people, each with the state that it led to, and the circle that it ends in, if any. */
export function formatTrace(path: readonly TraceState[], circle: readonly TraceState[]): string {
  const lines = path.map(({ via, state }, index) =>
    via === undefined ? `   start             ${state}` : `${formatLine(index, via)}\n                     ${state}`,
  );
  if (circle.length > 0) lines.push('   and then round and round:');
  for (const { via, state } of circle) {
    lines.push(`     ${state}`);
    if (via !== undefined) lines.push(`       ${via.text}${formatReason(via)}`);
  }
  return lines.join('\n');
}

function formatLine(number: number, via: TraceLine): string {
  const age = via.age === undefined ? '' : ` (decided ${via.age} ${via.age === 1 ? 'move' : 'moves'} ago)`;
  return `${String(number).padStart(2)} ${`${via.kind}:`.padEnd(17)} ${via.text}${age}${formatReason(via)}`;
}

function formatReason(via: TraceLine): string {
  return via.reason === undefined ? '' : ` because ${via.reason}`;
}
