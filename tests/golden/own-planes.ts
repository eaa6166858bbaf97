import { bootPlane } from '@castellan/testkit';
import { type RunOptions, runTranscripts, type TranscriptResult } from './run.js';
import type { Transcript } from './transcript.js';

/** Every transcript against a plane such as it needs: most want no controllers, some want them. Both planes run at once. */
export async function runOnOwnPlanes(
  transcripts: readonly Transcript[],
  options: RunOptions,
): Promise<readonly TranscriptResult[]> {
  const results = await Promise.all(
    [false, true].map((controllers) => runOnOwnPlane(controllers, transcripts, options)),
  );
  return results.flat();
}

async function runOnOwnPlane(
  controllers: boolean,
  transcripts: readonly Transcript[],
  options: RunOptions,
): Promise<readonly TranscriptResult[]> {
  const suited = transcripts.filter(({ needs }) => needs.includes('kcm') === controllers);
  if (suited.length === 0) return [];
  const plane = await bootPlane({ controllers });
  try {
    return await runTranscripts(plane.kubeconfigPath, suited, options);
  } finally {
    await plane.stop();
  }
}
