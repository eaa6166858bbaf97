import { at, type JsonRecord, record, records, text } from '../json.js';

/** In the order in which upstream looks at them. */
const deprecatedSources = [
  { field: 'photonPersistentDisk', words: 'deprecated in v1.11, non-functional in v1.16+' },
  { field: 'gitRepo', words: 'deprecated in v1.11' },
  { field: 'scaleIO', words: 'deprecated in v1.16, non-functional in v1.22+' },
  { field: 'flocker', words: 'deprecated in v1.22, non-functional in v1.25+' },
  { field: 'storageos', shown: 'storageOS', words: 'deprecated in v1.22, non-functional in v1.25+' },
  { field: 'quobyte', words: 'deprecated in v1.22, non-functional in v1.25+' },
  { field: 'glusterfs', words: 'deprecated in v1.25, non-functional in v1.26+' },
  { field: 'cephfs', words: 'deprecated in v1.28, non-functional in v1.31+' },
  { field: 'rbd', words: 'deprecated in v1.28, non-functional in v1.31+' },
] as const;

/** What a client should hear of the volumes of a pod. */
export function volumeWarnings(spec: JsonRecord, path: string): readonly string[] {
  const volumes = records(spec.volumes).map((volume, index) => ({ volume, own: `${path}.volumes[${index}]` }));
  const tokens = new Set(
    volumes.flatMap(({ volume }) =>
      records(at(volume, 'projected', 'sources'))
        .filter(({ serviceAccountToken }) => serviceAccountToken !== undefined)
        .map(({ serviceAccountToken }) => text(record(serviceAccountToken).path) ?? ''),
    ),
  );
  return [
    ...volumes.flatMap(({ volume, own }) =>
      deprecatedSources
        .filter(({ field }) => volume[field] !== undefined)
        .map((source) => `${own}.${'shown' in source ? source.shown : source.field}: ${source.words}`),
    ),
    ...(tokens.size === 0
      ? []
      : volumes.flatMap(({ volume, own }) =>
          records(at(volume, 'projected', 'sources')).flatMap((source) =>
            tokenWarnings(source, tokens, `${own}.projected.sources`),
          ),
        )),
  ];
}

/** Files that lie where a token lies; the names of the places are upstream's. */
function tokenWarnings(source: JsonRecord, tokens: ReadonlySet<string>, path: string): readonly string[] {
  const warning = (file: unknown, place: string) => {
    const name = text(file) ?? '';
    if (!tokens.has(name)) return [];
    return [`${path}.${place}: has duplicated path with ServiceAccountToken ${JSON.stringify(name)}`];
  };
  return [
    { field: 'configMap', shown: 'configMap' },
    { field: 'secret', shown: 'secrets' },
    { field: 'downwardAPI', shown: 'downwardAPI' },
  ]
    .flatMap(({ field, shown }) =>
      records(record(source[field]).items).flatMap((item, index) => warning(item.path, `${shown}[${index}]`)),
    )
    .concat(
      source.clusterTrustBundle === undefined
        ? []
        : warning(at(source, 'clusterTrustBundle', 'path'), 'ClusterTrustBundle'),
    );
}
