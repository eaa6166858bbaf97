import { existsSync, statSync } from 'node:fs';
import { runCommand } from '../sandbox/command.js';
import type { DebianProgram } from './debian-program.js';
import { debianPrograms } from './debian-programs.js';
import { type Image, ImageError, type ImageRecipe, type OfferedProgram } from './image.js';
import type { ImageName } from './image-name.js';

/** Images of one program that Debian has a package of. */
export class DebianProgramRecipe implements ImageRecipe {
  readonly shortNames: readonly string[];
  readonly #programs: readonly DebianProgram[];
  /** By path and time of change: to ask a program costs as much as to start it. */
  readonly #versions = new Map<string, string>();

  constructor(programs: readonly DebianProgram[] = debianPrograms) {
    this.#programs = programs;
    this.shortNames = programs.flatMap(({ images }) => images[0] ?? []);
  }

  matches(image: ImageName): boolean {
    return this.#find(image) !== undefined;
  }

  async offers(): Promise<readonly OfferedProgram[]> {
    return await Promise.all(
      this.#programs.map(async (program) => {
        const { images, path, package: name } = program;
        const origin = `Debian's ${name}`;
        return existsSync(path)
          ? { images, version: await this.#versionOf(program), origin }
          : { images, origin, next: `apt-get install ${name}` };
      }),
    );
  }

  async resolve(image: ImageName): Promise<Image> {
    const program = this.#find(image);
    if (program === undefined) throw new ImageError(`image ${image.path} is no program of Debian`);
    const version = await this.#versionOf(program);
    const { name, path } = program;
    const origin = `Debian's ${program.package}`;
    const isAsked = /^v?\d/.test(image.tag) ? `${version}.`.startsWith(`${numberIn(image.tag)}.`) : true;
    const wanted = `wanted ${name} ${image.tag}; this machine has ${version}; running it (${origin})`;
    return {
      mounts: [],
      files: [],
      entrypoint: [],
      environment: {},
      workingDirectory: '/',
      ...program.image,
      id: `program:/${path}@${version}`,
      description: `${name} ${version} (${origin})`,
      ...(isAsked ? {} : { substitution: wanted }),
    };
  }

  #find(image: ImageName): DebianProgram | undefined {
    return this.#programs.find(({ images }) => images.includes(image.path));
  }

  async #versionOf({ path, package: debianPackage, version: asked }: DebianProgram): Promise<string> {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) {
      throw new ImageError(`no ${debianPackage} on this machine; next: apt-get install ${debianPackage}`);
    }
    const key = `${path} ${stat.mtimeMs}`;
    const known = this.#versions.get(key);
    if (known !== undefined) return known;
    const { stdout, stderr } = await runCommand(asked.program ?? path, asked.arguments, { deadlineMs: 5_000 });
    const version = asked.pattern.exec(stdout + stderr)?.[1] ?? 'unknown';
    this.#versions.set(key, version);
    return version;
  }
}

/** Of `1.25.3-alpine` and `v2.42.0` the number. */
function numberIn(tag: string): string {
  return /^v?(\d+(?:\.\d+)*)/.exec(tag)?.[1] ?? tag;
}
