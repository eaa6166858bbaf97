/**
 * How a command speaks. `text` is for people and goes to standard output line by line. `json` writes one document, the
 * result, to standard output, and progress as one JSON object per line to standard error.
 */
export interface Reporter {
  readonly format: OutputFormat;
  /** A heading before a group of lines. */
  heading(text: string): void;
  /** One thing that happened, or a reason for waiting. `subject` is the object it is about. */
  line(text: string, fields?: ReportFields): void;
  /** Something a person should know although nothing failed. */
  warn(text: string, fields?: ReportFields): void;
  /** A phase has ended. */
  phase(name: string, ms: number): void;
  /** What the command was for. `text` makes the lines for people. */
  result(value: unknown, text: () => string): void;
  failure(failure: Failure): void;
}

export type OutputFormat = 'text' | 'json';
export type ReportFields = Readonly<Record<string, unknown>>;

export interface Failure {
  readonly code: string;
  readonly exitCode: number;
  readonly message: string;
  readonly next: string;
}

export interface Streams {
  out(text: string): void;
  err(text: string): void;
}
