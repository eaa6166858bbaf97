import { writeSync } from 'node:fs';

/** What a detached plane tells the process that started it, one JSON object per line on a pipe of their own. */
export type Announcement =
  | { readonly type: 'phase'; readonly name: string; readonly ms: number }
  | { readonly type: 'ready'; readonly url: string }
  | { readonly type: 'failed'; readonly code: string; readonly message: string; readonly next: string };

export type Announce = (announcement: Announcement) => void;

/** `undefined`: nobody listens. A listener that has gone is no reason for the plane to stop. */
export function announceTo(pipe: number | undefined): Announce {
  if (pipe === undefined) return () => undefined;
  return (announcement) => {
    try {
      writeSync(pipe, `${JSON.stringify(announcement)}\n`);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
    }
  };
}

export function parseAnnouncement(line: string): Announcement {
  const value: unknown = JSON.parse(line);
  if (typeof value === 'object' && value !== null && 'type' in value) return value as Announcement;
  throw new Error(`not an announcement: ${line}`);
}
