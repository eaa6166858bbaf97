import { bootPlane } from '@castellan/testkit';
import { runTranscripts, type TranscriptResult } from './run.js';
import type { Transcript } from './transcript.js';

/** Every transcript against a plane such as it needs: most want no controllers, some want them. */
export async function runOnOwnPlanes(
  transcripts: readonly Transcript[],
  onResult?: (result: TranscriptResult) => void,
): Promise<readonly TranscriptResult[]> {
  const results: TranscriptResult[] = [];
  for (const controllers of [false, true]) {
    const suited = transcripts.filter(({ needs }) => needs.includes('kcm') === controllers);
    if (suited.length === 0) continue;
    const plane = await bootPlane({ controllers });
    try {
      results.push(...(await runTranscripts(plane.kubeconfigPath, suited, onResult)));
    } finally {
      await plane.stop();
    }
  }
  return results;
}
