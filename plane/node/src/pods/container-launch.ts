import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container, Pod } from '@castellan/machinery';
import type { Image } from '../images/image.js';
import type { ContainerLaunch } from '../sandbox/container-process.js';
import { imageHelpers, machineHelpers } from '../sandbox/image-programs.js';
import type { ProcessIdentity } from '../sandbox/process-identity.js';
import type { LayerFile, Mount } from '../sandbox/root-file-system.js';
import { terminalCommand } from '../sandbox/terminal.js';
import { outOfMemoryScore } from './container-resources.js';
import { ContainerConfigError, expand } from './environment.js';
import { podHostname } from './pod-files.js';
import { containerUser, systemCallFilter } from './security-context.js';

export interface LaunchParts {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: Image;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly Mount[];
  readonly files: readonly LayerFile[];
  readonly directory: string;
  readonly networkNamespace: string;
  readonly joins?: ProcessIdentity;
  readonly cgroups: readonly string[];
}

/** Puts together what one start of a container needs. */
export function containerLaunch(parts: LaunchParts): ContainerLaunch {
  const { pod, container, image, environment } = parts;
  const filter = systemCallFilter(pod, container);
  return {
    directory: parts.directory,
    networkNamespace: parts.networkNamespace,
    hostname: podHostname(pod),
    command: withTerminal(parts, commandLine(container, image, environment)),
    hasInput: container.stdin === true || container.tty === true,
    environment,
    workingDirectory: container.workingDir ?? image.workingDirectory,
    root: {
      files: [...parts.files, ...image.files],
      links: image.links ?? [],
      copies: image.copies ?? [],
      ...(image.root === undefined ? {} : { image: image.root }),
      mounts: [...image.mounts, ...parts.volumes, terminationLog(parts)],
      isReadOnly: container.securityContext?.readOnlyRootFilesystem === true,
    },
    user: containerUser(pod, container, image.user),
    ...(filter === undefined ? {} : { systemCallFilter: filter }),
    ...(parts.joins === undefined ? {} : { joins: parts.joins }),
    cgroups: parts.cgroups,
    outOfMemoryScore: outOfMemoryScore(pod, container),
  };
}

/** What every container finds in its environment unless the image or the manifest say otherwise. */
export function standardEnvironment(pod: Pod): Readonly<Record<string, string>> {
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    HOSTNAME: podHostname(pod),
  };
}

/** `command` replaces the image's entrypoint and its arguments; `args` the arguments alone. */
function commandLine(
  container: Container,
  image: Image,
  environment: Readonly<Record<string, string>>,
): readonly string[] {
  const own = container.command ?? [];
  const entrypoint = own.length > 0 ? own : image.entrypoint;
  const defaultArguments = own.length > 0 ? [] : image.arguments;
  const args = (container.args ?? []).length > 0 ? (container.args ?? []) : defaultArguments;
  const command = [...entrypoint, ...args].map((word) => expand(word, environment));
  if (command.length === 0) throw new ContainerConfigError(`no command specified for container "${container.name}"`);
  return command;
}

/** With `tty` the program has a terminal of its own, whose output is the container's. */
function withTerminal({ container, image }: LaunchParts, command: readonly string[]): readonly string[] {
  const helpers = image.root === undefined ? machineHelpers : imageHelpers;
  return container.tty === true ? terminalCommand(command, helpers) : command;
}

function terminationLog({ container, directory }: LaunchParts): Mount {
  const source = join(directory, 'termination-log');
  writeFileSync(source, '', { mode: 0o666 });
  return { source, target: container.terminationMessagePath ?? '/dev/termination-log', isReadOnly: false };
}
