import { request } from 'node:https';

const replyDeadlineMs = 1_000;

/**
 * Whether `/readyz` of our own new process answers 200. Its certificate was made a moment ago and is not looked at: the
 * address came from that process itself, and nothing secret is sent.
 */
export function probeReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request(
      new URL('/readyz', url),
      { rejectUnauthorized: false, agent: false, timeout: replyDeadlineMs },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve(false));
    probe.end();
  });
}
