/** One thing that `castellan doctor` looked at. */
export interface Finding {
  /** `ok`; `warning`: it works, with less; `problem`: pods or the plane will not work. */
  readonly severity: 'ok' | 'warning' | 'problem';
  readonly subject: string;
  /** What was seen. */
  readonly evidence: string;
  /** What to do; absent when nothing is to be done. */
  readonly next?: string;
}
