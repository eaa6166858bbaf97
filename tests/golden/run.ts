import { converse, type StepResult } from './conversation.js';
import type { Transcript } from './transcript.js';
import { Wire } from './wire.js';

export interface TranscriptResult {
  readonly name: string;
  readonly steps: readonly StepResult[];
}

/** Waits on the server, not the processor, are what a conversation mostly is: several at once end sooner. */
const atOnce = 8;

/** Replays transcripts against the server of a kubeconfig; results are in the order of the transcripts. */
export async function runTranscripts(
  kubeconfig: string,
  transcripts: readonly Transcript[],
  onResult: (result: TranscriptResult) => void = () => undefined,
): Promise<readonly TranscriptResult[]> {
  const wire = await Wire.open(kubeconfig);
  const results = new Map<Transcript, TranscriptResult>();
  const queue = [...transcripts];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const result = { name: next.name, steps: await converseTwice(wire, next) };
      results.set(next, result);
      onResult(result);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    wire.close();
  }
  return transcripts.flatMap((transcript) => results.get(transcript) ?? []);
}

/**
 * A conversation that differs is held once more: some replies order managers of fields by whole seconds, and are another
 * where a second ends between two steps.
 */
async function converseTwice(wire: Wire, transcript: Transcript): Promise<readonly StepResult[]> {
  const first = await converse(wire, transcript);
  const differing = (steps: readonly StepResult[]) => steps.filter(({ differences }) => differences.length > 0).length;
  if (differing(first) === 0) return first;
  const second = await converse(wire, transcript);
  return differing(second) < differing(first) ? second : first;
}
