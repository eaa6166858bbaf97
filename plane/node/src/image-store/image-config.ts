import { isList, isRecord } from '@castellan/machinery';
import { ArchiveError } from './archive-error.js';

/** What an image says of how it is to be run. Source: OCI image specification, "Image Configuration". */
export interface ImageConfig {
  readonly architecture: string;
  readonly os: string;
  /** A name or number, or two with a colon; empty for root. */
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly workingDirectory: string;
  /** What asks it to end, such as `SIGQUIT`; empty for SIGTERM. */
  readonly stopSignal: string;
  /** Digests of the layers as they are when nothing is packed, from the lowest. */
  readonly layers: readonly string[];
}

/** @throws ArchiveError when it is no configuration of an image. */
export function parseImageConfig(value: unknown): ImageConfig {
  if (!isRecord(value) || !isRecord(value.rootfs))
    throw new ArchiveError('the archive holds something that is no image: its configuration has no rootfs');
  const { config, architecture, os, rootfs } = value;
  const said = isRecord(config) ? config : {};
  return {
    architecture: textOr(architecture, ''),
    os: textOr(os, 'linux'),
    user: textOr(said.User, ''),
    environment: Object.fromEntries(texts(said.Env).map(assignment)),
    entrypoint: texts(said.Entrypoint),
    command: texts(said.Cmd),
    workingDirectory: textOr(said.WorkingDir, '') || '/',
    stopSignal: textOr(said.StopSignal, ''),
    layers: texts(rootfs.diff_ids),
  };
}

function assignment(text: string): readonly [string, string] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)];
}

function texts(value: unknown): readonly string[] {
  return isList(value) ? value.filter((each) => typeof each === 'string') : [];
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** What was written down of a configuration that `parseImageConfig` made. */
export function parseStoredConfig(value: unknown): ImageConfig {
  const said = isRecord(value) ? value : {};
  const environment = isRecord(said.environment) ? said.environment : {};
  return {
    architecture: textOr(said.architecture, ''),
    os: textOr(said.os, 'linux'),
    user: textOr(said.user, ''),
    environment: Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, textOr(text, '')])),
    entrypoint: texts(said.entrypoint),
    command: texts(said.command),
    workingDirectory: textOr(said.workingDirectory, '/'),
    stopSignal: textOr(said.stopSignal, ''),
    layers: texts(said.layers),
  };
}
