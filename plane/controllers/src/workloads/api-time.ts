/** A time as objects of the API have it: RFC 3339 in UTC, whole seconds. */
export function apiTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
