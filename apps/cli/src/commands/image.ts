import { existsSync } from 'node:fs';
import type { LoadedImage, LoadProgress } from '@castellan/embedded';
import { humanDuration } from '@castellan/machinery';
import type { Context, Run } from '../context.js';
import { CliError } from '../errors.js';
import { formatTable } from '../output/table.js';

/** One image or program, as `image ls` lists it. */
interface ImageView {
  readonly name: string;
  readonly version: string;
  /** In bytes; 0 for what is part of the machine. */
  readonly bytes: number;
  readonly origin: string;
}

export const listImages: Run = async ({ dataDirectory, reporter, world }) => {
  const { defaultProgramDirectory, ImageCatalogue, ImageStore } = await import('@castellan/embedded');
  const nowMs = world.clock.now();
  const loaded = new ImageStore(dataDirectory).list().map(({ name, id, bytes, loadedAtMs, origin }): ImageView => {
    const how = origin === 'registry' ? 'pulled' : 'loaded';
    return {
      name,
      version: id.slice(0, 'sha256:'.length + 12),
      bytes,
      origin: `${how} ${humanDuration(nowMs - loadedAtMs)} ago`,
    };
  });
  const programs = await new ImageCatalogue({ programDirectory: defaultProgramDirectory }).programs();
  const ofMachine = programs.map(({ images, version, origin, next }): ImageView => {
    const where = next === undefined ? origin : `not installed; next: ${next}`;
    return { name: images.join(', '), version: version ?? '', bytes: 0, origin: where };
  });
  const all = [...loaded, ...ofMachine];
  reporter.result(all, () =>
    formatTable(
      ['image', 'version', 'size', 'from'],
      all.map(({ name, version, bytes, origin }) => [name, version, bytes === 0 ? '' : sizeOf(bytes), origin]),
    ),
  );
};

export const loadImage: Run = async (context, { arguments: given, name }) => {
  const file = context.resolvePath(String(given));
  if (!existsSync(file)) throw new CliError('FILE_NOT_READABLE', `There is no file ${file}.`);
  const { ImageStore, loadArchive } = await import('@castellan/embedded');
  const images = await expected(
    loadArchive(new ImageStore(context.dataDirectory), file, {
      origin: 'archive',
      nowMs: context.world.clock.now(),
      onProgress: progress(context),
      signal: context.stopSignal,
      ...(typeof name === 'string' && { name }),
    }),
  );
  context.reporter.result(images, () => images.map((image) => described('loaded', image)).join('\n'));
};

export const pullNamedImage: Run = async (context, { arguments: given }) => {
  const { ImageStore, pullImage } = await import('@castellan/embedded');
  const image = await expected(
    pullImage(new ImageStore(context.dataDirectory), String(given), {
      nowMs: context.world.clock.now(),
      onProgress: progress(context),
      signal: context.stopSignal,
    }),
  );
  context.reporter.result(image, () => described('pulled', image));
};

/** Of a large image each tenth is told, of a small one nothing but its layers. */
const leastStepBytes = 20_000_000;

/** Says of each layer when it begins, and how far it has come. */
function progress({ reporter }: Context): (progress: LoadProgress) => void {
  let last = '';
  let lastBytes = 0;
  return ({ name, layer, layers, bytes, totalBytes }) => {
    const isFar = bytes - lastBytes >= Math.max(totalBytes / 10, leastStepBytes);
    if (`${name} ${layer}` === last && !isFar) return;
    last = `${name} ${layer}`;
    lastBytes = bytes;
    reporter.line(`${name}: layer ${layer} of ${layers}, ${sizeOf(bytes)} of ${sizeOf(totalBytes)}`, {
      image: name,
      layer,
      layers,
      bytes,
      totalBytes,
    });
  };
}

function described(verb: string, { names, id, bytes }: LoadedImage): string {
  return `${verb} ${names.join(', ')}  ${id.slice(0, 'sha256:'.length + 12)}  ${sizeOf(bytes)}`;
}

/** What is wrong with an archive or a registry is for the person who asked; told apart by name, for nothing more is loaded. */
async function expected<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Error) || (error.name !== 'ArchiveError' && error.name !== 'PullError')) throw error;
    const [what = '', next] = error.message.split('; next: ');
    const message = `${what.charAt(0).toUpperCase()}${what.slice(1)}.`;
    throw new CliError('NO_IMAGE', message, { cause: error, ...(next === undefined ? {} : { next }) });
  }
}

const units = ['B', 'kB', 'MB', 'GB'] as const;

/** As `docker images` shows sizes: powers of ten, three digits. */
function sizeOf(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1_000 && unit < units.length - 1) {
    amount /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? amount : Number(amount.toPrecision(3))} ${units[unit]}`;
}
