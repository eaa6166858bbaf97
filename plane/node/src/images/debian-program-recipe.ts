import { existsSync } from 'node:fs';
import { runCommand } from '../sandbox/command.js';
import { type Image, ImageError, type ImageRecipe } from './image.js';
import type { ImageName } from './image-name.js';

interface DebianProgram {
  /** Paths of the images that stand for it, without their registry. */
  readonly images: readonly string[];
  readonly path: string;
  readonly package: string;
  /** Its `--version`, and the version in what that prints. */
  readonly versionArguments: readonly string[];
  readonly versionPattern: RegExp;
  /** What the image runs when the pod names no command. */
  readonly arguments: readonly string[];
}

/** Programs that need nothing of their image but themselves. The machine's files are in every container anyway. */
const programs: readonly DebianProgram[] = [
  {
    images: ['memcached', 'bitnami/memcached'],
    path: '/usr/bin/memcached',
    package: 'memcached',
    versionArguments: ['-V'],
    versionPattern: /^memcached (\S+)/,
    // It refuses to be root unless it is told to; the container's root is nobody outside of it.
    arguments: ['memcached', '-u', 'root'],
  },
];

/** Images of one program that Debian has a package of. */
export class DebianProgramRecipe implements ImageRecipe {
  matches(image: ImageName): boolean {
    return programOf(image) !== undefined;
  }

  async resolve(image: ImageName): Promise<Image> {
    const program = programOf(image);
    if (program === undefined) throw new ImageError(`image ${image.path} is no program of Debian`);
    if (!existsSync(program.path)) {
      throw new ImageError(`no ${program.package} on this machine; next: apt-get install ${program.package}`);
    }
    const { stdout } = await runCommand(program.path, [...program.versionArguments], { deadlineMs: 5_000 });
    const version = program.versionPattern.exec(stdout)?.[1] ?? 'unknown';
    const origin = `Debian's ${program.package}`;
    const isAsked = /^\d/.test(image.tag) ? `${version}.`.startsWith(`${image.tag}.`) : true;
    return {
      id: `program:/${program.path}@${version}`,
      description: `${program.package} ${version} (${origin})`,
      ...(isAsked
        ? {}
        : {
            substitution: `wanted ${program.package} ${image.tag}; this machine has ${version}; running it (${origin})`,
          }),
      mounts: [],
      files: [],
      entrypoint: [],
      arguments: program.arguments,
      environment: {},
      workingDirectory: '/',
    };
  }
}

function programOf(image: ImageName): DebianProgram | undefined {
  return programs.find(({ images }) => images.includes(image.path));
}
