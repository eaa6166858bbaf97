import { realWorld } from '@castellan/world';
import { converse, type StepResult } from './conversation.js';
import type { Transcript } from './transcript.js';
import { Wire } from './wire.js';

export interface TranscriptResult {
  readonly name: string;
  readonly steps: readonly StepResult[];
}

export interface RunOptions {
  /** Whether a result is what was expected, and final. A conversation that went otherwise is held again. */
  readonly isExpected: (result: TranscriptResult) => boolean;
  readonly onResult?: (result: TranscriptResult) => void;
}

/** Waits on the server, not the processor, are what a conversation mostly is: several at once end sooner. */
const atOnce = 8;
const mostTimes = 6;
const { clock } = realWorld();

/** Replays transcripts against the server of a kubeconfig; results are in the order of the transcripts. */
export async function runTranscripts(
  kubeconfig: string,
  transcripts: readonly Transcript[],
  { isExpected, onResult = () => undefined }: RunOptions,
): Promise<readonly TranscriptResult[]> {
  const wire = await Wire.open(kubeconfig);
  const results = new Map<Transcript, TranscriptResult>();
  const note = (transcript: Transcript, result: TranscriptResult): void => {
    results.set(transcript, result);
    onResult(result);
  };
  const queue = [...transcripts];
  const doubtful: Transcript[] = [];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const result = { name: next.name, steps: await converse(wire, next) };
      if (isExpected(result)) note(next, result);
      else doubtful.push(next);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
    for (const transcript of doubtful) note(transcript, await conversedWithinASecond(wire, transcript, isExpected));
  } finally {
    wire.close();
  }
  return transcripts.flatMap((transcript) => results.get(transcript) ?? []);
}

/**
 * Some replies order managers of fields by whole seconds, and are another where a second ends between two steps. So a
 * conversation is held alone, from the beginning of a second on, until it goes as expected or has ended before that second
 * has.
 */
async function conversedWithinASecond(
  wire: Wire,
  transcript: Transcript,
  isExpected: RunOptions['isExpected'],
): Promise<TranscriptResult> {
  for (let time = 1; ; time += 1) {
    await clock.sleep(1_000 - (clock.now() % 1_000));
    const second = Math.floor(clock.now() / 1_000);
    const result = { name: transcript.name, steps: await converse(wire, transcript) };
    const isWithin = Math.floor(clock.now() / 1_000) === second;
    if (isExpected(result) || isWithin || time === mostTimes) return result;
  }
}
