import { StatusError } from '@castellan/machinery';

/** How a reply is to be written: JSON or YAML, whole, as a Table or as metadata only. */
export interface Representation {
  readonly format: 'json' | 'yaml';
  readonly shape: 'object' | 'Table' | 'PartialObjectMetadata';
  /** The version of meta.k8s.io of a Table or PartialObjectMetadata. */
  readonly shapeVersion: string;
  /** Whether metadata of a list was asked for, or of one object. Absent: said by neither. */
  readonly isOfList?: boolean;
}

interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const bodyTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

export const plainJson: Representation = { format: 'json', shape: 'object', shapeVersion: '' };

const formats: Readonly<Record<string, 'json' | 'yaml'>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  '*/*': 'json',
  'application/*': 'json',
};

/** The first of the client's media ranges that we can make; 406 when there is none. */
export function negotiate(accept: string | undefined, isWatch = false): Representation {
  if (accept === undefined || accept === '' || accept === 'application/json') return plainJson;
  for (const { type, parameters } of mediaRanges(accept)) {
    const format = Object.hasOwn(formats, type) ? formats[type] : undefined;
    if (format === undefined) continue;
    const { as: shape, v: version = '', g: group = '' } = parameters;
    if (shape === undefined) return { format, shape: 'object', shapeVersion: '' };
    const isKnown = group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1');
    if (!isKnown) continue;
    if (shape === 'Table') return { format, shape, shapeVersion: version };
    if (shape === 'PartialObjectMetadata' || shape === 'PartialObjectMetadataList') {
      const isOfList = shape === 'PartialObjectMetadataList';
      return { format, shape: 'PartialObjectMetadata', shapeVersion: version, isOfList };
    }
  }
  throw isWatch ? notAcceptableForWatch() : notAcceptable();
}

function notAcceptableForWatch(): StatusError {
  const types = [...bodyTypes, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
  const message = `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`;
  return StatusError.of('NotAcceptable', message, {});
}

function notAcceptable(types: readonly string[] = bodyTypes): StatusError {
  const message = `only the following media types are accepted: ${types.join(', ')}`;
  return StatusError.of('NotAcceptable', message);
}

/** In the client's order of preference: by quality, then as written. */
export function mediaRanges(accept: string): readonly MediaRange[] {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...pairs] = range.split(';').map((part) => part.trim());
    const parameters = Object.fromEntries(
      pairs.map((pair) => {
        const equals = pair.indexOf('=');
        return equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      }),
    );
    return { type: type.toLowerCase(), parameters };
  });
  return ranges.sort((left, right) => quality(right) - quality(left));
}

function quality({ parameters }: MediaRange): number {
  const { q } = parameters;
  return q === undefined ? 1 : Number(q) || 0;
}
