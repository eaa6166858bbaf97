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
      const result = { name: next.name, steps: await converse(wire, next) };
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
