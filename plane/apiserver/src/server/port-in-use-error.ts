/** Another process listens where the API server was to. */
export class PortInUseError extends Error {
  override readonly name = 'PortInUseError';
  readonly code = 'PortInUse';

  constructor(
    readonly host: string,
    readonly port: number,
    cause: unknown,
  ) {
    super(
      `port ${port} of ${host} is in use by another process; stop that process or choose another port (--port, 0 for any free one)`,
      { cause },
    );
  }
}
